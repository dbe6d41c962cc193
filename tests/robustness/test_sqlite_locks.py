"""Four who write, one who publishes, eight who read, on one SQLite (spec 90, Figures: SQLite)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from tests.embedding_servers import embedding_stand_in
from tests.publishing.making import TERMS, slug_of
from tests.robustness.counts import times
from tests.robustness.figures import Figures
from tests.robustness.programs import Program

SAVES = 200
WEB_PROCESSES, THREADS = 2, 4
PATHS = [f"curated/glossary/{slug_of(term)}.md" for term in TERMS]


@dataclass
class Crowd:
    """Programs over one home and one database."""

    writers: list[Program]
    readers: list[Program]
    publisher: Program

    def work(self, *, saves: int) -> dict[str, Counter[str]]:
        """Let all work at once until everything is saved, and count how their calls ended."""
        published: Counter[str] = Counter()
        publishing = Thread(target=self._publish_until_saved, args=(published,))
        for reader in self.readers:
            assert reader.ask(threads=THREADS) == {}
        for writer, path in zip(self.writers, PATHS, strict=True):
            writer.tell(path=path, saves=saves)
        self._saving = True
        publishing.start()
        saved = total(writer.hear() for writer in self.writers)
        self._saving = False
        publishing.join()
        read = total(reader.ask(threads=0) for reader in self.readers)
        return {"saves": saved, "publications": published, "answers": read}

    def _publish_until_saved(self, published: Counter[str]) -> None:
        while self._saving:
            published.update(self.publisher.ask(username="anna"))


def total(counts: Iterator[Mapping[str, int]]) -> Counter[str]:
    return sum((Counter(one) for one in counts), Counter())


@contextmanager
def crowd(home: Path, **more: str) -> Iterator[Crowd]:
    """Arrange and publish a workspace, and start everybody."""
    home.mkdir()
    with embedding_stand_in() as embedder, ExitStack() as stack:
        settings = {
            "PORTAL_EMBEDDER": "openai",
            "PORTAL_EMBEDDER_URL": embedder.url,
            "PORTAL_EMBEDDER_MODEL": "words",
        }
        with Program("arrange", home, **settings) as arrange:
            arrange.ready()
            assert arrange.ask(approvers=["anna"], revisions=0) == []

        def start(name: str) -> Program:
            return stack.enter_context(Program(name, home, **settings, **more))

        made = Crowd(
            writers=[start("writer") for _ in PATHS],
            readers=[start("reader") for _ in range(WEB_PROCESSES)],
            publisher=start("releaser"),
        )
        for program in (*made.writers, *made.readers, made.publisher):
            program.ready()
        assert made.publisher.ask(username="anna") == {"active": 1}
        yield made


def test_nobody_is_ever_told_that_the_database_is_locked(figures: Figures, tmp_path: Path) -> None:
    saves = times(SAVES)
    with crowd(tmp_path / "home") as everybody:
        ended = everybody.work(saves=saves)
    locked = sum(counts["locked"] for counts in ended.values())
    odd = {name: dict(counts) for name, counts in ended.items() if set(counts) - {"done", "active"}}
    figures.measured(
        "SQLite",
        f"4 writers x {saves}, {ended['publications'].total()} publications,"
        f" {ended['answers'].total():,} answers of 8 readers: {locked} locked"
        + (f" {odd}" * bool(odd)),
        holds=not odd
        and ended["saves"]["done"] == 4 * saves
        and ended["publications"]["active"] > 0
        and ended["answers"]["done"] > saves,
    )


def test_transactions_that_begin_as_readers_are_noticed(figures: Figures, tmp_path: Path) -> None:
    with crowd(tmp_path / "home", SEEDED_BUG="deferred") as everybody:
        ended = everybody.work(saves=25)
    locked = sum(counts["locked"] for counts in ended.values())
    figures.caught("SQLite", "transactions that begin as readers", noticed=locked > 0)
