//! Access masks: what an open may do, as [MS-DTYP] section 2.4.3 and [MS-SMB2] section 2.2.13.1 number it.

use crate::admission::sharing::Rights;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct AccessMask(pub u32);

impl AccessMask {
    pub const NONE: Self = Self(0);
    /// Or to list a directory.
    pub const READ_DATA: Self = Self(0x0000_0001);
    /// Or to add a file to a directory.
    pub const WRITE_DATA: Self = Self(0x0000_0002);
    /// Or to add a directory to a directory.
    pub const APPEND_DATA: Self = Self(0x0000_0004);
    pub const READ_EA: Self = Self(0x0000_0008);
    pub const WRITE_EA: Self = Self(0x0000_0010);
    pub const EXECUTE: Self = Self(0x0000_0020);
    pub const DELETE_CHILD: Self = Self(0x0000_0040);
    pub const READ_ATTRIBUTES: Self = Self(0x0000_0080);
    pub const WRITE_ATTRIBUTES: Self = Self(0x0000_0100);
    pub const DELETE: Self = Self(0x0001_0000);
    pub const READ_CONTROL: Self = Self(0x0002_0000);
    pub const WRITE_DAC: Self = Self(0x0004_0000);
    pub const WRITE_OWNER: Self = Self(0x0008_0000);
    pub const SYNCHRONIZE: Self = Self(0x0010_0000);
    pub const ACCESS_SYSTEM_SECURITY: Self = Self(0x0100_0000);
    pub const MAXIMUM_ALLOWED: Self = Self(0x0200_0000);
    pub const GENERIC_ALL: Self = Self(0x1000_0000);
    pub const GENERIC_EXECUTE: Self = Self(0x2000_0000);
    pub const GENERIC_WRITE: Self = Self(0x4000_0000);
    pub const GENERIC_READ: Self = Self(0x8000_0000);

    /// Everything that can be done to a file.
    pub const FILE_ALL: Self = Self(0x001f_01ff);
    /// What can be done to what is in a snapshot.
    pub const FILE_READ_AND_EXECUTE: Self = Self(0x0012_00a9);
    const FILE_READ: Self = Self(0x0012_0089);
    const FILE_WRITE: Self = Self(0x0012_0116);
    const FILE_EXECUTE: Self = Self(0x0012_00a0);
    /// Bits that mean nothing.
    const RESERVED: Self = Self(0x0ce0_fe00);

    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether it asks for something, and for nothing that has no meaning.
    pub const fn is_valid(self) -> bool {
        self.0 != 0 && !self.has_any(Self::RESERVED)
    }

    /// What an open that asks for this gets, where `maximal` is what it could have: none if it asks for more.
    pub fn granted(self, maximal: Self) -> Option<Self> {
        let mut bits = self.without(Self(0xf200_0000)).0;
        for (generic, specific) in [
            (Self::GENERIC_READ, Self::FILE_READ),
            (Self::GENERIC_WRITE, Self::FILE_WRITE),
            (Self::GENERIC_EXECUTE, Self::FILE_EXECUTE),
            (Self::GENERIC_ALL, Self::FILE_ALL),
            (Self::MAXIMUM_ALLOWED, maximal),
        ] {
            if self.has(generic) {
                bits |= specific.0;
            }
        }
        // The owner of the account may see what is audited.
        let allowed =
            if maximal == Self::FILE_ALL { maximal.and(Self::ACCESS_SYSTEM_SECURITY) } else { maximal };
        allowed.has(Self(bits)).then_some(Self(bits))
    }

    /// What share modes are judged by.
    pub const fn rights(self) -> Rights {
        Rights {
            read: self.has_any(Self::READ_DATA.and(Self::EXECUTE)),
            write: self.has_any(Self::WRITE_DATA.and(Self::APPEND_DATA)),
            delete: self.has_any(Self::DELETE),
        }
    }

    /// It looks at attributes only, or sets them: such an open meets no share mode and breaks no oplock.
    pub const fn is_attributes_only(self) -> bool {
        let attributes = Self::READ_ATTRIBUTES.and(Self::WRITE_ATTRIBUTES).and(Self::SYNCHRONIZE);
        self.0 & !attributes.0 == 0
    }

    /// It looks at the security descriptor at the most: such an open breaks no lease, but it breaks an oplock.
    pub const fn breaks_no_lease(self) -> bool {
        Self(self.0 & !Self::READ_CONTROL.0).is_attributes_only()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_rights_become_those_of_files() {
        let granted = |asked: u32| AccessMask(asked).granted(AccessMask::FILE_ALL);
        assert_eq!(granted(0x8000_0000), Some(AccessMask(0x0012_0089)));
        assert_eq!(granted(0x4000_0000), Some(AccessMask(0x0012_0116)));
        assert_eq!(granted(0x2000_0000), Some(AccessMask(0x0012_00a0)));
        assert_eq!(granted(0x1000_0000), Some(AccessMask::FILE_ALL));
        assert_eq!(granted(0x0200_0000), Some(AccessMask::FILE_ALL));
        assert_eq!(granted(0x0100_0001), Some(AccessMask(0x0100_0001)));
        assert_eq!(granted(0x20), Some(AccessMask(0x20)), "to execute is not to read");
    }

    #[test]
    fn a_snapshot_is_read_only() {
        let maximal = AccessMask::FILE_READ_AND_EXECUTE;
        assert_eq!(AccessMask::MAXIMUM_ALLOWED.granted(maximal), Some(maximal));
        assert_eq!(AccessMask::GENERIC_READ.granted(maximal), Some(AccessMask(0x0012_0089)));
        for refused in [AccessMask::GENERIC_WRITE, AccessMask::DELETE, AccessMask::WRITE_ATTRIBUTES] {
            assert_eq!(refused.granted(maximal), None, "{refused:?}");
        }
    }

    #[test]
    fn what_share_modes_look_at() {
        assert_eq!(AccessMask::EXECUTE.rights(), Rights::READ);
        assert_eq!(AccessMask::APPEND_DATA.rights(), Rights::WRITE);
        assert_eq!(AccessMask::FILE_ALL.rights(), Rights::ALL);
        assert_eq!(AccessMask(0x0012_0180).rights(), Rights::NONE);
        assert!(AccessMask(0x0010_0180).is_attributes_only());
        assert!(!AccessMask(0x0012_0180).is_attributes_only(), "READ_CONTROL is more");
        assert!(AccessMask(0x0012_0180).breaks_no_lease());
        assert!(!AccessMask(0x0016_0180).breaks_no_lease(), "WRITE_DAC");
        assert!(!AccessMask(0).is_valid() && !AccessMask(0x0400_0000).is_valid());
    }
}
