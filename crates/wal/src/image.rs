//! Page images: the page without its hole, perhaps compressed. Counterpart: xloginsert.c
//! (XLogCompressBackupBlock), xlogreader.c (RestoreBlockImage).

use crate::DecodedRecord;
use page::PageBuf;
use pgerror::Result;

pub(crate) fn restore(_record: &DecodedRecord, _id: u8, _out: &mut PageBuf) -> Result<()> {
    todo!()
}
