mod address;
mod format;
mod read_entity;
