//! The parameters of a shared access signature, read from the same decoded query that the request is acted by.

use lazuli_model::error::Failure;

use crate::auth::refusal::denied;
use crate::query::Query;

macro_rules! parameters {
    ($($name:ident)*) => {
        /// Each at most once; an empty one counts as absent.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct Parameters<'a> { $(pub $name: Option<&'a str>),* }

        impl<'a> Parameters<'a> {
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// A parameter that comes twice is refused: which of the two was signed must not be a question.
            pub fn read(query: &'a Query) -> Result<Self, Failure> {
                let mut this = Self::default();
                for (name, value) in query.pairs() {
                    $(if name.eq_ignore_ascii_case(stringify!($name)) {
                        if this.$name.replace(value).is_some() {
                            return Err(denied(concat!(
                                "Query parameter ", stringify!($name), " is given more than once."
                            )));
                        }
                        continue;
                    })*
                }
                $(this.$name = this.$name.filter(|value| !value.is_empty());)*
                Ok(this)
            }
        }
    };
}

parameters! {
    sv ss srt sr sp st se sip spr ses si sig sdd
    tn spk srk epk erk
    rscc rscd rsce rscl rsct
    skoid sktid skt ske sks skv saoid suoid scid skdutid sduoid srh srq
    snapshot versionid
}
