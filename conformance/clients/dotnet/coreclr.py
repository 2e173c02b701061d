#!/usr/bin/env python3
"""Runs a program on a .NET runtime that has come without its starter: coreclr.py DIRECTORY_OF_RUNTIME PROGRAM.dll [WORD...]"""
import ctypes
import glob
import os
import sys


def texts(words):
    return (ctypes.c_char_p * len(words))(*[word.encode() for word in words])


def main():
    runtime, program, *words = sys.argv[1:]
    library = ctypes.CDLL(os.path.join(runtime, 'libcoreclr.so'))
    properties = {
        'TRUSTED_PLATFORM_ASSEMBLIES': ':'.join([*sorted(glob.glob(os.path.join(runtime, '*.dll'))), program]),
        'NATIVE_DLL_SEARCH_DIRECTORIES': runtime, 'APP_PATHS': os.path.dirname(program), 'System.Globalization.Invariant': 'true'}
    host, domain, code = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint()
    failed = library.coreclr_initialize(program.encode(), b'lazuli', len(properties), texts(properties), texts(properties.values()),
                                        ctypes.byref(host), ctypes.byref(domain))
    if not failed:
        failed = library.coreclr_execute_assembly(host, domain, len(words), texts(words), program.encode(), ctypes.byref(code))
    if failed:
        print('the .NET runtime answered %#x' % (failed & 0xffffffff), file=sys.stderr)
    # The runtime has threads of its own, which an orderly exit would wait for.
    sys.stdout.flush()
    os._exit(1 if failed else code.value)


if __name__ == '__main__':
    main()
