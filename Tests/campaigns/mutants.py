"""One-line mutations of security checks, each of which a named test must catch: `make mutants`.

The table (mutants.toml) lists for each mutant the promise it breaks, the place, the change, and
the tests that catch it, which are those that docs/SECURITY.md names for the promise. A copy of the
tree contains all mutants at once. Each is switched on by its number, which a process reads from a
file when it starts, so the campaign needs only one build. The original sources are not changed.

    mutants.py            the whole table; skips results that are known for the same sources
    ID=17 mutants.py      one mutant, even if its result is known; ID=17,20-29 several
    WHOLE=1               run the whole suite against a mutant that survives its tests, to see
                          what catches it by accident
    AGAIN=1               ignore all known results
    BUILT=1               use the last build, even if the tree has changed since
    LIMIT=180             seconds allowed for the tests of one mutant
    mutants.py --check    check that the table fits the sources and that the mutated files parse;
                          builds nothing
    mutants.py --build    only build

A mutant is caught by its tests, caught by the time limit (they hang), or survives. The campaign
fails if one survives. The tests run without a mutant first, and must pass.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).resolve().with_name("mutants.toml")
PLACE = ROOT / ".build/mutants"
TREE = PLACE / "tree"
BUILD = PLACE / "build"
SWITCH = PLACE / "switch"
RESULTS = PLACE / "results.json"
# Besides the sources, the files that the tests read.
COPIED = [
    "Package.swift", "Makefile", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", ".swift-format", ".ci",
    "Sources", "Tests", "docs", "scripts", "Benchmarks",
]
# Shorter waits: what tests await from a process comes within seconds or, in a mutant, never.
PATIENCE = [
    ("Tests/WorkspaceTestKit/Eventually.swift", "seconds = 240", "seconds = 40"),
    ("Tests/PeerNodeTests/Loop/LoopTesting.swift", "= 240_000", "= 40_000"),
]
# A mutant that hangs must not hang the campaign.
LIMIT_SECONDS = int(os.environ.get("LIMIT", "180"))
SWIFT = os.environ.get("SWIFT") or "swift"

LOOKUP = '''private import Glibc

/// The mutant of Tests/campaigns/mutants.toml that is active in this process.
public enum Mutation {
    private static let number: Int32 = {
        guard let file = fopen("%s", "r") else { return 0 }
        defer { fclose(file) }
        var digits = [CChar](repeating: 0, count: 16)
        return fgets(&digits, 16, file) == nil ? 0 : atoi(digits)
    }()

    /// Whether the mutant with this number is active.
    public static func on(_ id: Int32) -> Bool { number == id }
}
'''


class Wrong(Exception):
    """The table does not fit the sources, or the build or test run failed."""


class Mutant:
    """One row of the table."""

    KINDS = {"skip", "instead", "value", "true", "false"}

    def __init__(self, row):
        unknown = set(row) - {"id", "promise", "file", "at", "kind", "broken", "tests"}
        if unknown:
            raise Wrong(f"{row.get('id')}: unknown key {', '.join(sorted(unknown))}")
        self.id = row["id"]
        self.promise = row["promise"]
        self.file = row["file"]
        self.kind = row["kind"]
        self.broken = row.get("broken", "")
        self.tests = row["tests"]
        if self.kind not in self.KINDS:
            raise Wrong(f"{self.id}: unknown kind {self.kind}")
        if (self.kind in {"instead", "value"}) != bool(self.broken):
            raise Wrong(f"{self.id}: this kind needs 'broken', or must not have it")
        if not self.tests:
            raise Wrong(f"{self.id}: no test")
        at = row["at"].strip("\n")
        head, mark, rest = at.partition("«")
        part, _, tail = rest.partition("»")
        self.head, self.part, self.tail = (head, part, tail) if mark else ("", at, "")

    @property
    def text(self):
        """The text in the original file, where it occurs once."""
        return self.head + self.part + self.tail

    def switched(self):
        """The replacement in the copy."""
        on = f"Mutation.on({self.id})"
        part = self.part
        changed = {
            "skip": f"if !{on} {{ {part}\n}}",
            "instead": f"if {on} {{ {self.broken} }} else {{ {part}\n}}",
            "value": f"({on} ? ({self.broken}) : ({part}))",
            "true": f"({on} || ({part}))",
            "false": f"(!{on} && ({part}))",
        }[self.kind]
        return self.head + changed + self.tail


def read_table():
    """Reads the mutants by number and checks them against the sources and docs/SECURITY.md."""
    mutants = [Mutant(row) for row in tomllib.loads(TABLE.read_text())["mutant"]]
    numbers = [mutant.id for mutant in mutants]
    faults = [f"number {n} occurs twice" for n in sorted(set(numbers)) if numbers.count(n) > 1]
    page = (ROOT / "docs/SECURITY.md").read_text()
    named = {name for line in page.split("\n") if "Tests: " in line
             for name in line.split("Tests: ", 1)[1].split("`")[1::2]}
    for mutant in mutants:
        path = ROOT / mutant.file
        count = path.read_text().count(mutant.text) if path.is_file() else 0
        if count != 1:
            faults.append(f"{mutant.id}: 'at' occurs {count} times in {mutant.file}, not once")
        for test in mutant.tests:
            if test not in named:
                faults.append(f"{mutant.id}: docs/SECURITY.md names no test {test!r}")
    if faults:
        raise Wrong("\n".join(faults))
    return {mutant.id: mutant for mutant in mutants}


def check_syntax(mutants):
    """Checks that every file parses with its mutants. The build checks the types."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name in sorted({mutant.file for mutant in mutants.values()}):
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(switched_file(name, (ROOT / name).read_text(), mutants))
            paths.append(path)
        done = subprocess.run(
            ["swiftc", "-frontend", "-parse", "-parse-as-library", *paths],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode:
            raise Wrong("\n".join(re.findall(r"^.*error: .*$", done.stdout, re.M)[:20]))


# The copy


def switched_file(name, text, mutants):
    """Returns a source file with all its mutants."""
    for mutant in mutants.values():
        if mutant.file != name:
            continue
        if text.count(mutant.text) != 1:
            raise Wrong(f"{mutant.id}: its place overlaps another mutant's")
        text = text.replace(mutant.text, mutant.switched())
    if not re.search(r"^(\w+ )?import WorkspaceModel$", text, re.M):
        if not name.startswith("Sources/WorkspaceModel/"):
            text = "internal import WorkspaceModel\n" + text
    return text


def put(path, data):
    """Writes a file only if it differs, so that unchanged files are not rebuilt."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def copy_tree(mutants):
    """Updates the copy to the tree with all mutants. Returns the hash of its content."""
    wanted = {}
    for name in COPIED:
        top = ROOT / name
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.is_file() and ".build" not in path.parts and "__pycache__" not in path.parts:
                wanted[path.relative_to(ROOT)] = path.read_bytes()
    for name in {mutant.file for mutant in mutants.values()}:
        path = Path(name)
        wanted[path] = switched_file(name, wanted[path].decode(), mutants).encode()
    for file, long, short in PATIENCE:
        text = wanted[Path(file)].decode()
        if text.count(long) != 1:
            raise Wrong(f"{file} does not contain {long!r} exactly once")
        wanted[Path(file)] = text.replace(long, short).encode()
    package = wanted[Path("Package.swift")].decode()
    # A mutant may leave a variable that is never changed, or unreachable code.
    wanted[Path("Package.swift")] = package.replace(
        "    .treatAllWarnings(as: .error),\n", "").encode()
    wanted[Path("Sources/WorkspaceModel/Rules/Mutation.swift")] = (LOOKUP % SWITCH).encode()
    for path in sorted(TREE.rglob("*")) if TREE.is_dir() else []:
        if path.is_file() and path.relative_to(TREE) not in wanted:
            path.unlink()
    digest = hashlib.sha256()
    for name, data in sorted(wanted.items()):
        put(TREE / name, data)
        shutil.copymode(ROOT / name, TREE / name) if (ROOT / name).exists() else None
        if name.parts[0] in {"Sources", "Tests", "Package.swift"} and "campaigns" not in name.parts:
            digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def build(mutants):
    """Builds the copy and its tests. Prints the mutants at the places of compiler errors."""
    PLACE.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [SWIFT, "build", "--build-tests", "--package-path", TREE, "--scratch-path", BUILD,
         "--disable-xctest", "--disable-index-store", "-debug-info-format", "none"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode == 0:
        return
    lines = done.stdout.split("\n")
    errors = list(dict.fromkeys(line for line in lines if re.search(r"^/.*error:", line)))
    print("\n".join(errors[:40] or lines[-40:]))
    told = set()
    for error in errors:
        found = re.match(r".*?/tree/([^:]+):(\d+):", error)
        if not found:
            continue
        text = (TREE / found[1]).read_text().split("\n")
        # The mutant is on this line, or a little above.
        for line in reversed(text[max(0, int(found[2]) - 12):int(found[2])]):
            number = re.search(r"Mutation\.on\((\d+)\)", line)
            if number:
                if number[1] not in told:
                    print(f"mutant {number[1]} does not build: "
                          f"{mutants[int(number[1])].promise}")
                told.add(number[1])
                break
    raise Wrong("the copy with all mutants does not build")


# Running


def runner():
    found = sorted(BUILD.glob("*/debug/*PackageTests.xctest"))
    if not found:
        raise Wrong("the build has no test program")
    return found[0]


def run(number, tests, limit):
    """Runs the named tests, or all if none are named, with one mutant active.

    Returns (ended in time, status, failed tests, output).
    """
    SWITCH.write_text(f"{number}\n")
    command = [runner(), "--testing-library", "swift-testing"]
    for test in tests:
        command += ["--filter", re.escape(test).replace("/", "\\/")]
    environment = dict(os.environ, SWIFT_BACKTRACE="enable=no")
    process = subprocess.Popen(
        command, cwd=TREE, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    in_time = True
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        in_time = False
        # The tests' Guardian ignores SIGTERM, and ends the nodes once the tests are gone.
        os.killpg(process.pid, signal.SIGTERM)
        try:
            output, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        raise
    SWITCH.write_text("0\n")
    output = re.sub(r"\x1b\[[0-9;]*m", "", output)
    failed = re.findall(r'^✘ Test ["`]?(.*?)["`]?(?:\(.*?\))? (?:with .*?)?(?:recorded|failed)',
                        output, re.M)
    failed = [name for name in dict.fromkeys(failed) if name != "run"]
    return in_time, process.returncode, failed, output


def check_unbroken(mutants):
    """Checks that all named tests exist and pass without a mutant."""
    names = sorted({test for mutant in mutants.values() for test in mutant.tests})
    print(f"running the {len(names)} tests of {len(mutants)} mutants, without a mutant", flush=True)
    in_time, status, failed, output = run(0, names, 20 * 60)
    (PLACE / "unbroken.log").write_text(output)
    if not in_time or status != 0:
        raise Wrong(f"tests fail without a mutant: {failed}; see {PLACE}/unbroken.log")
    for name in names:
        if not re.search(r"^✔ (?:Test|Suite) .*" + re.escape(name), output, re.M):
            raise Wrong(f"no test is named {name!r}")


def outcome(mutant):
    began = time.monotonic()
    in_time, status, failed, output = run(mutant.id, mutant.tests, LIMIT_SECONDS)
    seconds = round(time.monotonic() - began, 1)
    (PLACE / f"mutant-{mutant.id}.log").write_text(output)
    if not in_time:
        how, by = "hung", failed
    elif status == 0:
        how, by = "survived", []
    elif failed:
        how, by = "caught", failed
    else:
        how, by = "caught", [f"exit status {status}"]
    found = {"how": how, "by": by, "seconds": seconds}
    if how == "survived" and os.environ.get("WHOLE"):
        _, _, failed, output = run(mutant.id, [], 30 * 60)
        (PLACE / f"mutant-{mutant.id}-whole.log").write_text(output)
        found["whole"] = failed
    return found


def chosen(mutants):
    words = os.environ.get("ID", "")
    if not words:
        return mutants
    numbers = set()
    for word in words.split(","):
        first, _, last = word.partition("-")
        numbers |= set(range(int(first), int(last or first) + 1))
    return {number: mutant for number, mutant in mutants.items() if number in numbers}


def tell(mutant, found):
    by = {"caught": "caught", "hung": "by the time limit", "survived": "SURVIVED"}[found["how"]]
    print(f"{mutant.id:4} {by:21} {found['seconds']:6.1f} s  {mutant.promise}")
    for name in found["by"][:3] if found["how"] != "survived" else mutant.tests:
        print(f"     {'by' if found['how'] != 'survived' else 'despite'} {name[:100]}")
    if "whole" in found:
        print(f"     the whole suite: {found['whole'] or 'also survives'}")
    sys.stdout.flush()


def main():
    if set(sys.argv[1:]) - {"--check", "--build"}:
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    mutants = read_table()
    if "--check" in sys.argv:
        check_syntax(mutants)
        print(f"{len(mutants)} mutants: the table fits the sources")
        return 0
    SWITCH.parent.mkdir(parents=True, exist_ok=True)
    SWITCH.write_text("0\n")
    stamp = PLACE / "sources"
    if os.environ.get("BUILT"):
        sources = stamp.read_text()
    else:
        sources = copy_tree(mutants)
        print("building the copy", flush=True)
        build(mutants)
        stamp.write_text(sources)
    if "--build" in sys.argv:
        return 0
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    if results.get("sources") != sources or os.environ.get("AGAIN"):
        results = {"sources": sources, "unbroken": [], "found": {}}
    wanted = chosen(mutants)
    names = {test for mutant in wanted.values() for test in mutant.tests}
    if not names <= set(results["unbroken"]):
        check_unbroken(wanted)
        results["unbroken"] = sorted(names | set(results["unbroken"]))
    for number, mutant in wanted.items():
        known = results["found"].get(str(number))
        if known is None or known["tests"] != mutant.tests or os.environ.get("ID"):
            known = outcome(mutant) | {"tests": mutant.tests}
            results["found"][str(number)] = known
            RESULTS.write_text(json.dumps(results, indent=1))
        tell(mutant, known)
    ends = [results["found"][str(number)]["how"] for number in wanted]
    print(f"{len(ends)} mutants: {ends.count('caught')} caught by their tests, "
          f"{ends.count('hung')} by the time limit, {ends.count('survived')} survived")
    return 1 if "survived" in ends else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except Wrong as wrong:
        sys.exit(f"mutants: {wrong}")
