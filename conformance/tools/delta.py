"""deltalake: eight writers append to one table at the same time. Each commit is one Put Blob If-None-Match:* of the next
version, and the loser finds that version by listing from the last one he knows. No writer may fail, none may be lost. Then the
table is kept in order: deletes, optimize, checkpoint, vacuum; the last deletes in batches."""
import multiprocessing
import traceback

from target import Target

WRITERS, ROUNDS, ROWS = 8, 2, 10


def place(target, name):
    options = {'account_name': target.account, 'account_key': target.key, 'azure_endpoint': target.endpoint,
               'allow_http': 'true'}
    return 'az://%s/table' % name, options


def rows(number):
    import pyarrow
    return pyarrow.table({'writer': pyarrow.array([number] * ROWS, pyarrow.int64()),
                          'row': pyarrow.array(range(ROWS), pyarrow.int64())})


def write(number, name, start, faults):
    try:
        from deltalake import DeltaTable, write_deltalake
        address, options = place(Target(), name)
        table = DeltaTable(address, storage_options=options)
        start.wait(120)
        write_deltalake(table, rows(number), mode='append')
    except BaseException:
        faults.put('writer %d: %s' % (number, traceback.format_exc()))


def together(name, first):
    context = multiprocessing.get_context('spawn')
    start, faults = context.Barrier(WRITERS), context.Queue()
    writers = [context.Process(target=write, args=(first + number, name, start, faults)) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(240)
    told = []
    for writer in writers:
        if writer.exitcode != 0:
            writer.kill()
            told.append('a writer ended with %s' % writer.exitcode)
    while not faults.empty():
        told.append(faults.get())
    if told:
        raise SystemExit('%d of %d writers failed\n%s' % (len(told), WRITERS, '\n'.join(told)))


def keep_in_order(container, table, count):
    def files():
        return sum(blob.name.endswith('.parquet') and '_delta_log' not in blob.name for blob in container.list_blobs())

    many, before = files(), table.version()
    told = table.optimize.compact()
    assert told['numFilesRemoved'] == many and told['numFilesAdded'] == 1, told
    table.delete('row = 0')
    table.optimize.z_order(['row'])
    left = count - count // ROWS
    assert table.to_pyarrow_table().num_rows == left
    table.create_checkpoint()
    assert container.get_blob_client('table/_delta_log/_last_checkpoint').exists()
    gone = table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    assert len(gone) >= many and files() == 1, (len(gone), files())
    assert table.to_pyarrow_table().num_rows == left, 'rows lost by vacuum'
    assert table.version() > before


def main():
    from deltalake import DeltaTable, write_deltalake
    target = Target()
    container = target.container('delta')
    address, options = place(target, container.container_name)
    write_deltalake(address, rows(-1), storage_options=options)
    for number in range(ROUNDS):
        together(container.container_name, number * WRITERS)
        table = DeltaTable(address, storage_options=options)
        assert table.version() == (number + 1) * WRITERS, 'version %d' % table.version()
    writers = range(-1, ROUNDS * WRITERS)
    found = sorted(zip(*(table.to_pyarrow_table().column(name).to_pylist() for name in ('writer', 'row'))))
    assert found == sorted((writer, row) for writer in writers for row in range(ROWS)), 'rows lost or doubled'
    keep_in_order(container, table, ROWS * len(writers))
    container.delete_container()


if __name__ == '__main__':
    main()
