//! Instructions by what they do; the encoding follows from the register size and the tier.
//!
//! iced numbers the forms of one instruction in the order xmm, ymm, zmm, so the smallest form stands for all of them
//! (a test checks each).

use iced_x86::Code;

use super::machine::View;

/// One instruction with its VEX form for AVX2 and its EVEX form for AVX-512.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Family {
    pub(super) vex: Option<Code>,
    pub(super) evex: Option<Code>,
}

impl Family {
    pub(super) fn code(self, wide512: bool, view: View) -> Option<Code> {
        let step = match view {
            View::Y => 1,
            View::Z => 2,
            _ => 0,
        };
        let first = if wide512 { self.evex } else { self.vex }?;
        Code::try_from(first as usize + step).ok()
    }
}

macro_rules! families {
    ($($name:ident: $vex:tt, $evex:tt;)*) => {
        $(pub(super) const $name: Family = Family { vex: families!(@ $vex), evex: families!(@ $evex) };)*

        #[cfg(test)]
        pub(super) const ALL: &[(&str, Family)] = &[$((stringify!($name), $name),)*];
    };
    (@ _) => { None };
    (@ $code:ident) => { Some(Code::$code) };
}

families! {
    ADDPS: VEX_Vaddps_xmm_xmm_xmmm128, EVEX_Vaddps_xmm_k1z_xmm_xmmm128b32;
    ADDPD: VEX_Vaddpd_xmm_xmm_xmmm128, EVEX_Vaddpd_xmm_k1z_xmm_xmmm128b64;
    SUBPS: VEX_Vsubps_xmm_xmm_xmmm128, EVEX_Vsubps_xmm_k1z_xmm_xmmm128b32;
    SUBPD: VEX_Vsubpd_xmm_xmm_xmmm128, EVEX_Vsubpd_xmm_k1z_xmm_xmmm128b64;
    MULPS: VEX_Vmulps_xmm_xmm_xmmm128, EVEX_Vmulps_xmm_k1z_xmm_xmmm128b32;
    MULPD: VEX_Vmulpd_xmm_xmm_xmmm128, EVEX_Vmulpd_xmm_k1z_xmm_xmmm128b64;
    DIVPS: VEX_Vdivps_xmm_xmm_xmmm128, EVEX_Vdivps_xmm_k1z_xmm_xmmm128b32;
    DIVPD: VEX_Vdivpd_xmm_xmm_xmmm128, EVEX_Vdivpd_xmm_k1z_xmm_xmmm128b64;
    MINPS: VEX_Vminps_xmm_xmm_xmmm128, EVEX_Vminps_xmm_k1z_xmm_xmmm128b32;
    MINPD: VEX_Vminpd_xmm_xmm_xmmm128, EVEX_Vminpd_xmm_k1z_xmm_xmmm128b64;
    MAXPS: VEX_Vmaxps_xmm_xmm_xmmm128, EVEX_Vmaxps_xmm_k1z_xmm_xmmm128b32;
    MAXPD: VEX_Vmaxpd_xmm_xmm_xmmm128, EVEX_Vmaxpd_xmm_k1z_xmm_xmmm128b64;
    SQRTPS: VEX_Vsqrtps_xmm_xmmm128, EVEX_Vsqrtps_xmm_k1z_xmmm128b32;
    SQRTPD: VEX_Vsqrtpd_xmm_xmmm128, EVEX_Vsqrtpd_xmm_k1z_xmmm128b64;
    ROUNDPS: VEX_Vroundps_xmm_xmmm128_imm8, EVEX_Vrndscaleps_xmm_k1z_xmmm128b32_imm8;
    ROUNDPD: VEX_Vroundpd_xmm_xmmm128_imm8, EVEX_Vrndscalepd_xmm_k1z_xmmm128b64_imm8;
    FMADD231PS: VEX_Vfmadd231ps_xmm_xmm_xmmm128, EVEX_Vfmadd231ps_xmm_k1z_xmm_xmmm128b32;
    FMADD231PD: VEX_Vfmadd231pd_xmm_xmm_xmmm128, EVEX_Vfmadd231pd_xmm_k1z_xmm_xmmm128b64;
    FMADD213PS: VEX_Vfmadd213ps_xmm_xmm_xmmm128, EVEX_Vfmadd213ps_xmm_k1z_xmm_xmmm128b32;
    FMADD213PD: VEX_Vfmadd213pd_xmm_xmm_xmmm128, EVEX_Vfmadd213pd_xmm_k1z_xmm_xmmm128b64;

    PADDB: VEX_Vpaddb_xmm_xmm_xmmm128, EVEX_Vpaddb_xmm_k1z_xmm_xmmm128;
    PADDW: VEX_Vpaddw_xmm_xmm_xmmm128, EVEX_Vpaddw_xmm_k1z_xmm_xmmm128;
    PADDD: VEX_Vpaddd_xmm_xmm_xmmm128, EVEX_Vpaddd_xmm_k1z_xmm_xmmm128b32;
    PADDQ: VEX_Vpaddq_xmm_xmm_xmmm128, EVEX_Vpaddq_xmm_k1z_xmm_xmmm128b64;
    PSUBB: VEX_Vpsubb_xmm_xmm_xmmm128, EVEX_Vpsubb_xmm_k1z_xmm_xmmm128;
    PSUBW: VEX_Vpsubw_xmm_xmm_xmmm128, EVEX_Vpsubw_xmm_k1z_xmm_xmmm128;
    PSUBD: VEX_Vpsubd_xmm_xmm_xmmm128, EVEX_Vpsubd_xmm_k1z_xmm_xmmm128b32;
    PSUBQ: VEX_Vpsubq_xmm_xmm_xmmm128, EVEX_Vpsubq_xmm_k1z_xmm_xmmm128b64;
    PMULLW: VEX_Vpmullw_xmm_xmm_xmmm128, EVEX_Vpmullw_xmm_k1z_xmm_xmmm128;
    PMULLD: VEX_Vpmulld_xmm_xmm_xmmm128, EVEX_Vpmulld_xmm_k1z_xmm_xmmm128b32;
    PMULLQ: _, EVEX_Vpmullq_xmm_k1z_xmm_xmmm128b64;
    PMULUDQ: VEX_Vpmuludq_xmm_xmm_xmmm128, EVEX_Vpmuludq_xmm_k1z_xmm_xmmm128b64;
    PMINSB: VEX_Vpminsb_xmm_xmm_xmmm128, EVEX_Vpminsb_xmm_k1z_xmm_xmmm128;
    PMINSW: VEX_Vpminsw_xmm_xmm_xmmm128, EVEX_Vpminsw_xmm_k1z_xmm_xmmm128;
    PMINSD: VEX_Vpminsd_xmm_xmm_xmmm128, EVEX_Vpminsd_xmm_k1z_xmm_xmmm128b32;
    PMINSQ: _, EVEX_Vpminsq_xmm_k1z_xmm_xmmm128b64;
    PMINUB: VEX_Vpminub_xmm_xmm_xmmm128, EVEX_Vpminub_xmm_k1z_xmm_xmmm128;
    PMINUW: VEX_Vpminuw_xmm_xmm_xmmm128, EVEX_Vpminuw_xmm_k1z_xmm_xmmm128;
    PMINUD: VEX_Vpminud_xmm_xmm_xmmm128, EVEX_Vpminud_xmm_k1z_xmm_xmmm128b32;
    PMINUQ: _, EVEX_Vpminuq_xmm_k1z_xmm_xmmm128b64;
    PMAXSB: VEX_Vpmaxsb_xmm_xmm_xmmm128, EVEX_Vpmaxsb_xmm_k1z_xmm_xmmm128;
    PMAXSW: VEX_Vpmaxsw_xmm_xmm_xmmm128, EVEX_Vpmaxsw_xmm_k1z_xmm_xmmm128;
    PMAXSD: VEX_Vpmaxsd_xmm_xmm_xmmm128, EVEX_Vpmaxsd_xmm_k1z_xmm_xmmm128b32;
    PMAXSQ: _, EVEX_Vpmaxsq_xmm_k1z_xmm_xmmm128b64;
    PMAXUB: VEX_Vpmaxub_xmm_xmm_xmmm128, EVEX_Vpmaxub_xmm_k1z_xmm_xmmm128;
    PMAXUW: VEX_Vpmaxuw_xmm_xmm_xmmm128, EVEX_Vpmaxuw_xmm_k1z_xmm_xmmm128;
    PMAXUD: VEX_Vpmaxud_xmm_xmm_xmmm128, EVEX_Vpmaxud_xmm_k1z_xmm_xmmm128b32;
    PMAXUQ: _, EVEX_Vpmaxuq_xmm_k1z_xmm_xmmm128b64;
    PABSB: VEX_Vpabsb_xmm_xmmm128, EVEX_Vpabsb_xmm_k1z_xmmm128;
    PABSW: VEX_Vpabsw_xmm_xmmm128, EVEX_Vpabsw_xmm_k1z_xmmm128;
    PABSD: VEX_Vpabsd_xmm_xmmm128, EVEX_Vpabsd_xmm_k1z_xmmm128b32;
    PABSQ: _, EVEX_Vpabsq_xmm_k1z_xmmm128b64;
    PAND: VEX_Vpand_xmm_xmm_xmmm128, EVEX_Vpandd_xmm_k1z_xmm_xmmm128b32;
    PANDN: VEX_Vpandn_xmm_xmm_xmmm128, EVEX_Vpandnd_xmm_k1z_xmm_xmmm128b32;
    POR: VEX_Vpor_xmm_xmm_xmmm128, EVEX_Vpord_xmm_k1z_xmm_xmmm128b32;
    PXOR: VEX_Vpxor_xmm_xmm_xmmm128, EVEX_Vpxord_xmm_k1z_xmm_xmmm128b32;
    PSLLW: VEX_Vpsllw_xmm_xmm_imm8, EVEX_Vpsllw_xmm_k1z_xmmm128_imm8;
    PSRLW: VEX_Vpsrlw_xmm_xmm_imm8, EVEX_Vpsrlw_xmm_k1z_xmmm128_imm8;
    PSLLD: VEX_Vpslld_xmm_xmm_imm8, EVEX_Vpslld_xmm_k1z_xmmm128b32_imm8;
    PSLLQ: VEX_Vpsllq_xmm_xmm_imm8, EVEX_Vpsllq_xmm_k1z_xmmm128b64_imm8;
    PSRLD: VEX_Vpsrld_xmm_xmm_imm8, EVEX_Vpsrld_xmm_k1z_xmmm128b32_imm8;
    PSRLQ: VEX_Vpsrlq_xmm_xmm_imm8, EVEX_Vpsrlq_xmm_k1z_xmmm128b64_imm8;
    PSRAD: VEX_Vpsrad_xmm_xmm_imm8, EVEX_Vpsrad_xmm_k1z_xmmm128b32_imm8;
    PSRAQ: _, EVEX_Vpsraq_xmm_k1z_xmmm128b64_imm8;
    PSRLDQ: VEX_Vpsrldq_xmm_xmm_imm8, EVEX_Vpsrldq_xmm_xmmm128_imm8;

    CMPPS: VEX_Vcmpps_xmm_xmm_xmmm128_imm8, EVEX_Vcmpps_kr_k1_xmm_xmmm128b32_imm8;
    CMPPD: VEX_Vcmppd_xmm_xmm_xmmm128_imm8, EVEX_Vcmppd_kr_k1_xmm_xmmm128b64_imm8;
    PCMPEQB: VEX_Vpcmpeqb_xmm_xmm_xmmm128, _;
    PCMPEQW: VEX_Vpcmpeqw_xmm_xmm_xmmm128, _;
    PCMPEQD: VEX_Vpcmpeqd_xmm_xmm_xmmm128, _;
    PCMPEQQ: VEX_Vpcmpeqq_xmm_xmm_xmmm128, _;
    PCMPGTB: VEX_Vpcmpgtb_xmm_xmm_xmmm128, _;
    PCMPGTW: VEX_Vpcmpgtw_xmm_xmm_xmmm128, _;
    PCMPGTD: VEX_Vpcmpgtd_xmm_xmm_xmmm128, _;
    PCMPGTQ: VEX_Vpcmpgtq_xmm_xmm_xmmm128, _;
    PCMPB: _, EVEX_Vpcmpb_kr_k1_xmm_xmmm128_imm8;
    PCMPUB: _, EVEX_Vpcmpub_kr_k1_xmm_xmmm128_imm8;
    PCMPUW: _, EVEX_Vpcmpuw_kr_k1_xmm_xmmm128_imm8;
    PCMPUD: _, EVEX_Vpcmpud_kr_k1_xmm_xmmm128b32_imm8;
    PCMPW: _, EVEX_Vpcmpw_kr_k1_xmm_xmmm128_imm8;
    PCMPD: _, EVEX_Vpcmpd_kr_k1_xmm_xmmm128b32_imm8;
    PCMPQ: _, EVEX_Vpcmpq_kr_k1_xmm_xmmm128b64_imm8;
    PCMPUQ: _, EVEX_Vpcmpuq_kr_k1_xmm_xmmm128b64_imm8;
    PBLENDVB: VEX_Vpblendvb_xmm_xmm_xmmm128_xmm, _;
    PBLENDMB: _, EVEX_Vpblendmb_xmm_k1z_xmm_xmmm128;
    PBLENDMW: _, EVEX_Vpblendmw_xmm_k1z_xmm_xmmm128;
    PBLENDMD: _, EVEX_Vpblendmd_xmm_k1z_xmm_xmmm128b32;
    PBLENDMQ: _, EVEX_Vpblendmq_xmm_k1z_xmm_xmmm128b64;

    LOAD: VEX_Vmovups_xmm_xmmm128, EVEX_Vmovups_xmm_k1z_xmmm128;
    STORE: VEX_Vmovups_xmmm128_xmm, EVEX_Vmovups_xmmm128_k1z_xmm;
    STORE_PAST: VEX_Vmovntps_m128_xmm, EVEX_Vmovntps_m128_xmm;
    LOAD8: _, EVEX_Vmovdqu8_xmm_k1z_xmmm128;
    LOAD16: _, EVEX_Vmovdqu16_xmm_k1z_xmmm128;
    LOAD64: _, EVEX_Vmovdqu64_xmm_k1z_xmmm128;
    STORE8: _, EVEX_Vmovdqu8_xmmm128_k1z_xmm;
    STORE16: _, EVEX_Vmovdqu16_xmmm128_k1z_xmm;
    STORE64: _, EVEX_Vmovdqu64_xmmm128_k1z_xmm;
    PMASKLOADD: VEX_Vpmaskmovd_xmm_xmm_m128, _;
    PMASKLOADQ: VEX_Vpmaskmovq_xmm_xmm_m128, _;
    PMASKSTORED: VEX_Vpmaskmovd_m128_xmm_xmm, _;
    PMASKSTOREQ: VEX_Vpmaskmovq_m128_xmm_xmm, _;
    BROADCASTB: VEX_Vpbroadcastb_xmm_xmmm8, EVEX_Vpbroadcastb_xmm_k1z_xmmm8;
    BROADCASTW: VEX_Vpbroadcastw_xmm_xmmm16, EVEX_Vpbroadcastw_xmm_k1z_xmmm16;
    BROADCASTD: VEX_Vpbroadcastd_xmm_xmmm32, EVEX_Vpbroadcastd_xmm_k1z_xmmm32;
    BROADCASTQ: VEX_Vpbroadcastq_xmm_xmmm64, EVEX_Vpbroadcastq_xmm_k1z_xmmm64;
    PSHUFD: VEX_Vpshufd_xmm_xmmm128_imm8, EVEX_Vpshufd_xmm_k1z_xmmm128b32_imm8;
    PSHUFB: VEX_Vpshufb_xmm_xmm_xmmm128, EVEX_Vpshufb_xmm_k1z_xmm_xmmm128;
    PALIGNR: VEX_Vpalignr_xmm_xmm_xmmm128_imm8, EVEX_Vpalignr_xmm_k1z_xmm_xmmm128_imm8;
    PMOVM2D: _, EVEX_Vpmovm2d_xmm_kr;
    PMOVM2Q: _, EVEX_Vpmovm2q_xmm_kr;
    PMOVD2M: _, EVEX_Vpmovd2m_kr_xmm;
    PMOVQ2M: _, EVEX_Vpmovq2m_kr_xmm;
    VALIGND: _, EVEX_Valignd_xmm_k1z_xmm_xmmm128b32_imm8;
    VALIGNQ: _, EVEX_Valignq_xmm_k1z_xmm_xmmm128b64_imm8;
    PUNPCKLWD: VEX_Vpunpcklwd_xmm_xmm_xmmm128, EVEX_Vpunpcklwd_xmm_k1z_xmm_xmmm128;
    PUNPCKLDQ: VEX_Vpunpckldq_xmm_xmm_xmmm128, EVEX_Vpunpckldq_xmm_k1z_xmm_xmmm128b32;
    PUNPCKLQDQ: VEX_Vpunpcklqdq_xmm_xmm_xmmm128, EVEX_Vpunpcklqdq_xmm_k1z_xmm_xmmm128b64;

    PMOVSXBW: VEX_Vpmovsxbw_xmm_xmmm64, EVEX_Vpmovsxbw_xmm_k1z_xmmm64;
    PMOVSXBD: VEX_Vpmovsxbd_xmm_xmmm32, EVEX_Vpmovsxbd_xmm_k1z_xmmm32;
    PMOVSXBQ: VEX_Vpmovsxbq_xmm_xmmm16, EVEX_Vpmovsxbq_xmm_k1z_xmmm16;
    PMOVSXWD: VEX_Vpmovsxwd_xmm_xmmm64, EVEX_Vpmovsxwd_xmm_k1z_xmmm64;
    PMOVSXWQ: VEX_Vpmovsxwq_xmm_xmmm32, EVEX_Vpmovsxwq_xmm_k1z_xmmm32;
    PMOVSXDQ: VEX_Vpmovsxdq_xmm_xmmm64, EVEX_Vpmovsxdq_xmm_k1z_xmmm64;
    PMOVZXBW: VEX_Vpmovzxbw_xmm_xmmm64, EVEX_Vpmovzxbw_xmm_k1z_xmmm64;
    PMOVZXBD: VEX_Vpmovzxbd_xmm_xmmm32, EVEX_Vpmovzxbd_xmm_k1z_xmmm32;
    PMOVZXBQ: VEX_Vpmovzxbq_xmm_xmmm16, EVEX_Vpmovzxbq_xmm_k1z_xmmm16;
    PMOVZXWD: VEX_Vpmovzxwd_xmm_xmmm64, EVEX_Vpmovzxwd_xmm_k1z_xmmm64;
    PMOVZXWQ: VEX_Vpmovzxwq_xmm_xmmm32, EVEX_Vpmovzxwq_xmm_k1z_xmmm32;
    PMOVZXDQ: VEX_Vpmovzxdq_xmm_xmmm64, EVEX_Vpmovzxdq_xmm_k1z_xmmm64;
    PMOVWB: _, EVEX_Vpmovwb_xmmm64_k1z_xmm;
    PMOVDB: _, EVEX_Vpmovdb_xmmm32_k1z_xmm;
    PMOVQB: _, EVEX_Vpmovqb_xmmm16_k1z_xmm;
    PMOVDW: _, EVEX_Vpmovdw_xmmm64_k1z_xmm;
    PMOVQW: _, EVEX_Vpmovqw_xmmm32_k1z_xmm;
    PMOVQD: _, EVEX_Vpmovqd_xmmm64_k1z_xmm;
    CVTDQ2PS: VEX_Vcvtdq2ps_xmm_xmmm128, EVEX_Vcvtdq2ps_xmm_k1z_xmmm128b32;
    CVTDQ2PD: VEX_Vcvtdq2pd_xmm_xmmm64, EVEX_Vcvtdq2pd_xmm_k1z_xmmm64b32;
    CVTPS2PD: VEX_Vcvtps2pd_xmm_xmmm64, EVEX_Vcvtps2pd_xmm_k1z_xmmm64b32;
    CVTPD2PS: VEX_Vcvtpd2ps_xmm_xmmm128, EVEX_Vcvtpd2ps_xmm_k1z_xmmm128b64;
    CVTTPS2DQ: VEX_Vcvttps2dq_xmm_xmmm128, EVEX_Vcvttps2dq_xmm_k1z_xmmm128b32;
    CVTTPD2DQ: VEX_Vcvttpd2dq_xmm_xmmm128, EVEX_Vcvttpd2dq_xmm_k1z_xmmm128b64;
    CVTQQ2PD: _, EVEX_Vcvtqq2pd_xmm_k1z_xmmm128b64;
    CVTQQ2PS: _, EVEX_Vcvtqq2ps_xmm_k1z_xmmm128b64;
    CVTUDQ2PS: _, EVEX_Vcvtudq2ps_xmm_k1z_xmmm128b32;
    CVTUDQ2PD: _, EVEX_Vcvtudq2pd_xmm_k1z_xmmm64b32;
    CVTUQQ2PD: _, EVEX_Vcvtuqq2pd_xmm_k1z_xmmm128b64;
    CVTUQQ2PS: _, EVEX_Vcvtuqq2ps_xmm_k1z_xmmm128b64;
    CVTTPS2UDQ: _, EVEX_Vcvttps2udq_xmm_k1z_xmmm128b32;
    CVTTPD2UDQ: _, EVEX_Vcvttpd2udq_xmm_k1z_xmmm128b64;
    CVTTPD2UQQ: _, EVEX_Vcvttpd2uqq_xmm_k1z_xmmm128b64;
    CVTTPD2QQ: _, EVEX_Vcvttpd2qq_xmm_k1z_xmmm128b64;
}

/// Instructions on xmm registers only, in the form of the tier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single {
    pub(super) vex: Code,
    pub(super) evex: Code,
}

impl Single {
    pub(super) fn code(self, wide512: bool) -> Code {
        if wide512 { self.evex } else { self.vex }
    }
}

macro_rules! singles {
    ($($name:ident: $vex:ident, $evex:ident;)*) => {
        $(pub(super) const $name: Single = Single { vex: Code::$vex, evex: Code::$evex };)*
    };
}

singles! {
    MOVD_LOAD: VEX_Vmovd_xmm_rm32, EVEX_Vmovd_xmm_rm32;
    MOVQ_LOAD: VEX_Vmovq_xmm_rm64, EVEX_Vmovq_xmm_rm64;
    MOVD_STORE: VEX_Vmovd_rm32_xmm, EVEX_Vmovd_rm32_xmm;
    MOVQ_STORE: VEX_Vmovq_rm64_xmm, EVEX_Vmovq_rm64_xmm;
    PINSRB: VEX_Vpinsrb_xmm_xmm_r32m8_imm8, EVEX_Vpinsrb_xmm_xmm_r32m8_imm8;
    PINSRW: VEX_Vpinsrw_xmm_xmm_r32m16_imm8, EVEX_Vpinsrw_xmm_xmm_r32m16_imm8;
    PINSRD: VEX_Vpinsrd_xmm_xmm_rm32_imm8, EVEX_Vpinsrd_xmm_xmm_rm32_imm8;
    PINSRQ: VEX_Vpinsrq_xmm_xmm_rm64_imm8, EVEX_Vpinsrq_xmm_xmm_rm64_imm8;
    PEXTRB: VEX_Vpextrb_r32m8_xmm_imm8, EVEX_Vpextrb_r32m8_xmm_imm8;
    PEXTRW: VEX_Vpextrw_r32m16_xmm_imm8, EVEX_Vpextrw_r32m16_xmm_imm8;
    PEXTRD: VEX_Vpextrd_rm32_xmm_imm8, EVEX_Vpextrd_rm32_xmm_imm8;
    PEXTRQ: VEX_Vpextrq_rm64_xmm_imm8, EVEX_Vpextrq_rm64_xmm_imm8;
    INSERT_YX: VEX_Vinserti128_ymm_ymm_xmmm128_imm8, EVEX_Vinserti32x4_ymm_k1z_ymm_xmmm128_imm8;
    EXTRACT_XY: VEX_Vextracti128_xmmm128_ymm_imm8, EVEX_Vextracti32x4_xmmm128_k1z_ymm_imm8;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_forms_are_the_same_instruction() {
        for (name, family) in ALL {
            for (wide512, views) in [(false, &[View::X, View::Y][..]), (true, &[View::X, View::Y, View::Z])] {
                let first = family.code(wide512, View::X);
                for view in views {
                    let code = family.code(wide512, *view);
                    assert_eq!(code.map(Code::mnemonic), first.map(Code::mnemonic), "{name}");
                    let text = code.map_or(String::new(), |code| format!("{code:?}"));
                    let size = match view {
                        View::X => "xmm",
                        View::Y => "ymm",
                        _ => "zmm",
                    };
                    assert!(code.is_none() || text.contains(size), "{name}: {text} at {view:?}");
                    let prefix = if wide512 { "EVEX_" } else { "VEX_" };
                    assert!(code.is_none() || text.starts_with(prefix), "{name}: {text}");
                }
            }
        }
    }
}
