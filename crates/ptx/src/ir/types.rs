//! The closed sets of words that PTX is made of: types, state spaces, special registers.

/// An enum with the spelling of each variant in the text.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$vdoc])* $variant),+
        }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// As it is spelled in PTX.
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $text),+
                }
            }

            pub fn from_word(word: &str) -> Option<$name> {
                match word {
                    $($text => Some($name::$variant),)+
                    _ => None,
                }
            }
        }
    };
}
pub(super) use words;

words! {
    Type {
        Pred = "pred",
        B8 = "b8", B16 = "b16", B32 = "b32", B64 = "b64",
        U8 = "u8", U16 = "u16", U32 = "u32", U64 = "u64",
        S8 = "s8", S16 = "s16", S32 = "s32", S64 = "s64",
        F16 = "f16", F32 = "f32", F64 = "f64",
    }
}

impl Type {
    /// Bits of a value; a predicate has one.
    pub fn bits(self) -> u32 {
        match self {
            Type::Pred => 1,
            Type::B8 | Type::U8 | Type::S8 => 8,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 => 16,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 => 32,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 => 64,
        }
    }

    /// Bytes in memory. Predicates are never there.
    pub fn bytes(self) -> u32 {
        self.bits() / 8
    }

    pub fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::F32 | Type::F64)
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    /// `.bN`: bits without a meaning.
    pub fn is_bits(self) -> bool {
        matches!(self, Type::B8 | Type::B16 | Type::B32 | Type::B64)
    }

    pub fn is_integer(self) -> bool {
        !self.is_float() && !self.is_bits() && self != Type::Pred
    }

    /// The integer type of twice the width: the result of `mul.wide`.
    pub fn widened(self) -> Option<Type> {
        match self {
            Type::U16 => Some(Type::U32),
            Type::S16 => Some(Type::S32),
            Type::U32 => Some(Type::U64),
            Type::S32 => Some(Type::S64),
            _ => None,
        }
    }
}

words! {
    /// Where an address points.
    Space {
        Global = "global",
        Shared = "shared",
        Param = "param",
        /// Of a single thread.
        Local = "local",
        /// No word in the text: global, shared or local, as the address says.
        Generic = "",
    }
}

words! {
    /// Registers that the machine sets.
    Special {
        TidX = "%tid.x", TidY = "%tid.y", TidZ = "%tid.z",
        NtidX = "%ntid.x", NtidY = "%ntid.y", NtidZ = "%ntid.z",
        CtaidX = "%ctaid.x", CtaidY = "%ctaid.y", CtaidZ = "%ctaid.z",
        NctaidX = "%nctaid.x", NctaidY = "%nctaid.y", NctaidZ = "%nctaid.z",
        LaneId = "%laneid", WarpId = "%warpid", WarpSize = "WARP_SZ",
        LanemaskEq = "%lanemask_eq", LanemaskLt = "%lanemask_lt", LanemaskLe = "%lanemask_le",
        LanemaskGt = "%lanemask_gt", LanemaskGe = "%lanemask_ge",
    }
}
