"""Makes packages/sandbox/src/adapters/local/wasm/openpyxl.zip from the wheels of openpyxl and et_xmlfile.

Run it with the python3 of the embedded sandbox, whose bytecode is in the archive beside the sources: importing the
sources alone takes four times as long. Another version of Python uses the sources.

    python3 openpyxl.py openpyxl-3.1.5-py2.py3-none-any.whl et_xmlfile-2.0.0-py3-none-any.whl openpyxl.zip
"""

import importlib.util
import sys
import zipfile
from importlib._bootstrap_external import _code_to_hash_pyc

*wheels, target = sys.argv[1:]
PLACE = "/usr/lib/openpyxl.zip"

with zipfile.ZipFile(target, "w") as archive:

    def add(name, content):
        entry = zipfile.ZipInfo(name, (2024, 10, 25, 0, 0, 0))
        archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)

    for wheel in wheels:
        with zipfile.ZipFile(wheel) as source:
            for name in sorted(source.namelist()):
                is_license = ".dist-info/" in name and ("LICENCE" in name or "AUTHORS" in name)
                if not (name.endswith(".py") or is_license):
                    continue
                content = source.read(name)
                add(name, content)
                if name.endswith(".py"):
                    code = compile(content, f"{PLACE}/{name}", "exec", dont_inherit=True)
                    add(f"{name}c", _code_to_hash_pyc(code, importlib.util.source_hash(content), False))
