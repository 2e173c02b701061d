mod address;
mod format;
mod multipart;
mod read_entity;
