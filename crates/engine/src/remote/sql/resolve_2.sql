-- Settles for good what became of a group: its row, or a tombstone in its place. A commit that is still under way holds
-- the row, so that this waits for its end; one that comes later finds the tombstone and fails. `committed` is NULL, and the
-- group not settled, where its row may have been there and been purged: every purge notes in `setting` how far it goes, in
-- the statement that deletes, and the last statement here sees both or neither. That holds for a tombstone of an earlier
-- question as well, whose answer was lost. A row that is there is told at once, because in the SERIALIZABLE dialect all of
-- this sees what was there when it began.
CREATE OR REPLACE FUNCTION lazuli.resolve_2(group_id uuid, now bigint,
    OUT committed boolean, OUT at bigint, OUT refused int[])
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    SELECT true, g.at, g.refused INTO committed, at, refused FROM lazuli.grp AS g WHERE g.id = group_id AND g.ids IS NOT NULL;
    IF FOUND THEN
        RETURN;
    END IF;
    INSERT INTO lazuli.grp VALUES (group_id, now, NULL, NULL) ON CONFLICT (id) DO NOTHING;
    SELECT CASE WHEN g.ids IS NOT NULL THEN true WHEN s.value > uuid_send(group_id) THEN NULL ELSE false END, g.at, g.refused
        INTO committed, at, refused
        FROM lazuli.grp AS g LEFT JOIN lazuli.setting AS s ON s.name = 'purged' WHERE g.id = group_id;
END
$$;
