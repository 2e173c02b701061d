"""az: containers, blobs, leases and SAS as a person at a terminal uses them. Each call starts an interpreter for seconds,
so only a few are made."""
import json
import os

from target import Target, run, scratch
from tree import digest, plant, same


def main():
    target = Target()
    program = os.path.join(target.tools, 'az/bin/az')
    with scratch() as place:
        environment = {'AZURE_CONFIG_DIR': os.path.join(place, 'config'), 'AZURE_CORE_COLLECT_TELEMETRY': 'false',
                       'AZURE_STORAGE_CONNECTION_STRING': target.connection_string,
                       'AZURE_CORE_ONLY_SHOW_ERRORS': 'true'}

        def az(*words):
            printed = run([program, 'storage', *words, '--output', 'json'], **environment)
            return json.loads(printed) if printed.strip() else None

        def blob(verb, *words):
            return az('blob', *verb.split(), '--container-name', 'az-tool', *words)

        up, down = os.path.join(place, 'up'), os.path.join(place, 'down')
        os.mkdir(up)
        os.mkdir(down)
        plant(up, seed=3)
        assert az('container', 'create', '--name', 'az-tool')['created']
        try:
            blob('upload', '--name', 'large', '--file', os.path.join(up, 'large.bin'))
            listed = {item['name']: item['properties']['contentLength'] for item in blob('list')}
            same({'large': digest(up)['large.bin'][0]}, listed, 'listed by az')
            blob('download', '--name', 'large', '--file', os.path.join(down, 'large.bin'))
            same({'large.bin': digest(up)['large.bin']}, digest(down), 'downloaded by az')
            lease = blob('lease acquire', '--blob-name', 'large', '--lease-duration', '60')
            shown = blob('show', '--name', 'large')['properties']['lease']
            assert (shown['state'], shown['status'], shown['duration']) == ('leased', 'locked', 'fixed'), shown
            blob('metadata update', '--name', 'large', '--metadata', 'colour=blue', '--lease-id', lease)
            assert blob('metadata show', '--name', 'large') == {'colour': 'blue'}
            blob('delete', '--name', 'large', '--lease-id', lease)
            assert blob('list') == []
        finally:
            az('container', 'delete', '--name', 'az-tool')


if __name__ == '__main__':
    main()
