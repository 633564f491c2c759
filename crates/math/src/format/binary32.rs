//! The constants of `f32`.

use super::{Format, Window};

impl Format for f32 {
    type Bits = i32;

    const PREFERS_SPEED: bool = true;
    const FRACTION_BITS: u32 = 23;
    const BIAS: i32 = 127;
    const INTEGER: f32 = 12582912.0;
    const UNIT: f32 = 8388608.0;
    const UNIT_BITS: i32 = 0x4b00_0000;
    const UNIT_AND_BIAS: f32 = 8388735.0;
    const SIGN: i32 = i32::MIN;
    const SIGN_BIT: u32 = 31;
    const FRACTION: i32 = 0x007f_ffff;
    const SQRT_HALF_BITS: i32 = 0x3f35_04f3;
    const ONE_LESS_SQRT_HALF_BITS: i32 = 0x3f80_0000 - 0x3f35_04f3;
    const INFINITY: f32 = f32::INFINITY;
    const NEG_INFINITY: f32 = f32::NEG_INFINITY;
    const NAN: f32 = f32::NAN;
    const SMALLEST_NORMAL: f32 = f32::MIN_POSITIVE;
    const LIFT: f32 = 33554432.0;
    const LIFT_LOG2: f32 = 25.0;

    const EXP_MAX: f32 = 89.0;
    const EXP_MIN: f32 = -104.0;
    const EXP2_MAX: f32 = 129.0;
    const EXP2_MIN: f32 = -151.0;
    const EXPM1_MIN: f32 = -20.0;
    const TANH_MAX: f32 = 10.0;
    const ERFC_MAX: f32 = 11.0;
    const TINY: f32 = 1e-8;
    const BELOW_HALF: f32 = 0.5 - f32::EPSILON / 4.0;

    const EXP: &'static [f32] = &[0.5, 0.16666543, 0.041666456, 0.008366539, 0.0013935759];
    const EXP2: &'static [f32] =
        &[std::f32::consts::LN_2, 0.2402265, 0.05550359, 0.009618077, 0.0013391323, 0.000154564];
    const LOG: &'static [f32] = &[0.66666776, 0.39977583, 0.29870817];
    const POW: &'static [f32] = &[0.285716, 0.22198027, 0.19269994];
    const SIN: &'static [f32] = &[-0.16666655, 0.00833219, -0.00019518407];
    const COS: &'static [f32] = &[0.041666646, -0.0013887311, 2.4432542e-5];
    const ASIN: &'static [f32] = &[0.1666666, 0.07500518, 0.044514634, 0.03182503, 0.014378913, 0.037594087];
    const ATAN: &'static [f32] = &[-0.33333236, 0.1999429, -0.14175765, 0.10163554, -0.0513831];
    const TANH: &'static [f32] = &[-0.33333284, 0.13331483, -0.05374279, 0.02064817, -0.0057142475];
    const SINH: &'static [f32] = &[0.16666667, 0.008333312, 0.00019842364, 2.7857484e-6];
    const CBRT: &'static [f32] = &[1.730528, -1.28518, 0.712799, -0.1583675];
    const ERF: &'static [f32] =
        &[0.12837917, -0.37612626, 0.112835824, -0.026853641, 0.005187954, -0.00080066605, 7.841651e-5];
    const ERFC: &'static [f32] = &[
        1.2769784,
        -0.092763744,
        -0.16603103,
        0.16404825,
        -0.05420817,
        -0.008002966,
        0.008644786,
        0.0011435135,
        -0.0012448899,
        -0.00022963807,
    ];
    const ERFC_LOW: f32 = 1.34862095e-8;
    const ERFC_CENTRE: f32 = 2.0;
    const LOG2_E: f32 = std::f32::consts::LOG2_E;
    const LOG2_E_LOW: f32 = 1.925963e-8;
    const LN_2: f32 = std::f32::consts::LN_2;
    const LN_2_LOW: f32 = -1.9046542e-9;
    const LN_2_SHORT: f32 = 0.69314575;
    const LN_2_SHORT_LOW: f32 = 1.4286068e-6;
    const LOG10_2_SHORT: f32 = 0.3010254;
    const LOG10_2_SHORT_LOW: f32 = 4.605039e-6;
    const LOG10_E: f32 = std::f32::consts::LOG10_E;
    const LOG10_E_LOW: f32 = -1.010305e-8;
    const THIRD: f32 = 1.0 / 3.0;
    const TWO_THIRDS: f32 = 2.0 / 3.0;
    const TWO_THIRDS_LOW: f32 = -1.9868216e-8;
    const TWO_FIFTHS: f32 = 2.0 / 5.0;
    const TWO_FIFTHS_LOW: f32 = -5.9604646e-9;
    const HALF_PI: f32 = std::f32::consts::FRAC_PI_2;
    const HALF_PI_LOW: f32 = -4.371139e-8;
    const HALF_PI_LOWEST: f32 = -1.7151245e-15;
    const TWO_OVER_PI: f32 = std::f32::consts::FRAC_2_PI;
    const CBRT_2: f32 = 1.2599211;
    const CBRT_HALF: f32 = 0.7937005;
    const FIRST_WINDOW: Window<f32> = Window {
        from: 65536.0,
        scale: 1.5258789e-5,
        words: &[41721.51, 0.0016831318, 1.9248549e-11, 3.980674e-19, -9.0262574e-27],
    };
    const WINDOWS: &'static [Window<f32>] = &[
        Window {
            from: 1.7592186e13,
            scale: 5.684342e-14,
            words: &[3.5975402e6, 0.005166993, 1.06855406e-10, -2.4229675e-18, 4.4304468e-26],
        },
        Window {
            from: 4.7223665e21,
            scale: 2.1175824e-22,
            words: &[1.3870041e6, 0.02868378, -6.504104e-10, 1.189289e-17, -3.3205032e-25],
        },
        Window {
            from: 1.2676506e30,
            scale: 7.888609e-31,
            words: &[7.6997435e6, -0.17459321, 3.1924734e-9, -8.913408e-17, 8.405079e-25],
        },
    ];

    const LARGE: f32 = 1e18;
    const LARGE_SCALE: f32 = f32::from_bits((127 - 68) << 23);
    const LARGE_UNSCALE: f32 = f32::from_bits((127 + 68) << 23);
    const SMALL: f32 = 1e-12;
    const SMALL_SCALE: f32 = f32::from_bits((127 + 96) << 23);
    const SMALL_UNSCALE: f32 = f32::from_bits((127 - 96) << 23);

    #[inline]
    fn of(value: f32) -> f32 {
        value
    }

    #[inline]
    fn small(value: i32) -> i32 {
        value
    }
}
