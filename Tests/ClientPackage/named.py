"""Names the public symbols that the sources of a client do not name. See tools/client-package.

usage: named.py LIBRARY GRAPHS INDEX

LIBRARY is the compiler's libIndexStore, GRAPHS a folder of symbol graphs, INDEX the index store that the compiler
wrote of the client's sources: what each name of theirs stands for, so that overloads are told apart.
"""

import ctypes
import json
import pathlib
import sys

MODULES = ("CloudKit", "CoreLocation")


class Text(ctypes.Structure):
    """indexstore_string_ref_t."""

    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def named_symbols(library, index):
    """The identifiers of all symbols in an index store."""
    store = ctypes.CDLL(library)
    applier = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)
    store.indexstore_store_create.restype = ctypes.c_void_p
    store.indexstore_record_reader_create.restype = ctypes.c_void_p
    store.indexstore_symbol_get_usr.restype = Text
    store.indexstore_symbol_get_usr.argtypes = [ctypes.c_void_p]
    opened = store.indexstore_store_create(str(index).encode(), None)
    if not opened:
        sys.exit(f"{index}: this is no index store")
    found = set()

    @applier
    def note(_, symbol):
        text = store.indexstore_symbol_get_usr(symbol)
        found.add(ctypes.string_at(text.data, text.length).decode())
        return True

    for record in pathlib.Path(index).glob("v*/records/*/*"):
        reader = store.indexstore_record_reader_create(ctypes.c_void_p(opened), record.name.encode(), None)
        if not reader:
            sys.exit(f"{record}: this is no record of an index store")
        store.indexstore_record_reader_symbols_apply_f(ctypes.c_void_p(reader), True, None, note)
        store.indexstore_record_reader_dispose(ctypes.c_void_p(reader))
    return found


def public_symbols(graphs):
    """The public symbols of the modules, and what these add to other modules: names by identifier."""
    symbols = {}
    for module in MODULES:
        for graph in sorted(pathlib.Path(graphs).glob(f"{module}*.symbols.json")):
            for symbol in json.loads(graph.read_text())["symbols"]:
                symbols[symbol["identifier"]["precise"]] = f"{module}: " + ".".join(symbol["pathComponents"])
        if not any(name.startswith(module + ":") for name in symbols.values()):
            sys.exit(f"{graphs}: there are no symbols of {module}")
    return symbols


def main(library, graphs, index):
    named = named_symbols(library, index)
    public = public_symbols(graphs)
    missing = sorted(f"{name} ({identifier})" for identifier, name in public.items() if identifier not in named)
    for line in missing:
        print(f"not named by the client: {line}")
    print(f"{len(public) - len(missing)} of {len(public)} public symbols are named")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
