-- Settles for good what became of a group: its row, or a tombstone in its place. A commit that is still under way holds
-- the row, so that this waits for its end; one that comes later finds the tombstone and fails.
CREATE OR REPLACE FUNCTION lazuli.resolve_1(group_id uuid, now bigint,
    OUT committed boolean, OUT at bigint, OUT refused int[])
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO lazuli.grp VALUES (group_id, now, NULL, NULL) ON CONFLICT (id) DO NOTHING;
    SELECT g.ids IS NOT NULL, g.at, g.refused INTO committed, at, refused FROM lazuli.grp AS g WHERE g.id = group_id;
END
$$;
