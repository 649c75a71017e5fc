"""Writes the archives of the bank into archives/, each time the same bytes: run by hand when one is
added. None is ever unpacked by gradlab, so none of their contents may be found anywhere afterwards."""
import io
import tarfile
import warnings
import zipfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "archives"
MARK = b"gradlab-attack-mark"


def written_zip(entries):
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of the name that comes twice, which is on purpose
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content,
                             zipfile.ZIP_DEFLATED)
    return out.getvalue()


def written_tar(entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for entry, content in entries:
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def member(name, kind=tarfile.REGTYPE, **fields):
    entry = tarfile.TarInfo(name)
    entry.type = kind
    for field, value in fields.items():
        setattr(entry, field, value)
    return entry


def archives():
    outside = [f"{up}tmp/gradlab-attack-mark-{i}" for i, up in
               enumerate(["/", "../../../../../../", "ada/../../../../../../"])]
    return {
        "slips_out.zip": written_zip([(name, MARK) for name in outside]),
        "bombs.zip": written_zip([("ada/clipping.cpp", bytes(64 << 20))]),
        "holds_one_name_twice.zip": written_zip([("ada/clipping.cpp", b"one"),
                                                 ("ada/clipping.cpp", b"two")]),
        "clashes_by_case.zip": written_zip([("ada/clipping.cpp", b"one"),
                                            ("Ada/Clipping.cpp", b"two")]),
        "links_out.tar": written_tar([
            (member("ada/out", tarfile.SYMTYPE, linkname="/tmp"), b""),
            (member("ada/out/gradlab-attack-mark"), MARK),
            (member("ada/clipping.cpp", tarfile.LNKTYPE, linkname="../../etc/passwd"), b"")]),
        "holds_devices.tar": written_tar([
            (member("ada/clipping.cpp", tarfile.CHRTYPE, devmajor=1, devminor=5), b""),
            (member("ada/pipe", tarfile.FIFOTYPE), b""),
            (member("ada/s", mode=0o6755), MARK)]),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, content in archives().items():
        (FOLDER / name).write_bytes(content)
