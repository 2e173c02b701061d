-- Format 1. `lazuli.` stands for the configured schema. Objects are versioned by name and only ever added: servers of two
-- versions may work on one schema.

CREATE SCHEMA IF NOT EXISTS lazuli;

-- One row for each key. `k` is what is ordered and indexed; `kx` is the whole key where that is too long for an index.
CREATE TABLE IF NOT EXISTS lazuli.kv (
    k bytea NOT NULL PRIMARY KEY,
    ver uuid NOT NULL,
    v bytea NOT NULL,
    kx bytea
) WITH (
    fillfactor = 80,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0
);
-- Only where it is not so yet: even then nobody may read meanwhile.
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'lazuli.kv'::regclass AND attname IN ('v', 'kx') AND attstorage <> 'e') THEN
        ALTER TABLE lazuli.kv ALTER v SET STORAGE EXTERNAL, ALTER kx SET STORAGE EXTERNAL;
    END IF;
END $$;

-- One row for each group of transactions, by which an unknown outcome is settled. The id begins with the time. `refused`
-- counts members from 0. Without `ids` it is a tombstone: that group was not committed and never will be.
CREATE TABLE IF NOT EXISTS lazuli.grp (
    id uuid NOT NULL PRIMARY KEY,
    at bigint NOT NULL,
    ids uuid[],
    refused int[]
) WITH (
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0
);

-- When a key with this hash was last deleted. A commit that makes such a key is refused if its attempt first read before that.
-- Rows are kept for ten minutes.
CREATE TABLE IF NOT EXISTS lazuli.gone (
    h bigint NOT NULL PRIMARY KEY,
    at bigint NOT NULL
) WITH (
    fillfactor = 80,
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0
);

CREATE TABLE IF NOT EXISTS lazuli.setting (
    name text NOT NULL PRIMARY KEY,
    value bytea NOT NULL
);

-- One row: how far the clock of the present primary is behind what servers have seen, as lazuli.now_1 takes it. A server
-- sees to it before it uses a node: schema.rs.
CREATE TABLE IF NOT EXISTS lazuli.clock (
    one boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (one),
    timeline int NOT NULL,
    base bigint NOT NULL
);
INSERT INTO lazuli.clock VALUES (true, 0, 0) ON CONFLICT DO NOTHING;
