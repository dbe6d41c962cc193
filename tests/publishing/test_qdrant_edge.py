"""The embedded store's own promises: sealed folders, private copies, forks, damage, processes."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from publishing.adapters import edge_engine, edge_shards
from publishing.adapters.edge_copies import PrivateCopies
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.domain.points import Point
from publishing.domain.query import build_request, make_filter, render_query_text
from publishing.ports import (
    CollectionState,
    HybridAnswer,
    HybridQuery,
    MalformedPayload,
    StoredGeneration,
    VectorStoreUnavailable,
)
from tests.fakes import BagOfWordsEmbedder
from tests.publishing.points import a_generation, a_unit, some_points

EMBEDDER = BagOfWordsEmbedder()
TITLES = ("Fascia pediatrica", "Ablazione cardiaca", "Regime di ricovero")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[QdrantEdgeStore]:
    opened = QdrantEdgeStore(tmp_path)
    yield opened
    opened.close()


def build(store: QdrantEdgeStore, name: str = "one", titles: tuple[str, ...] = TITLES):
    generation = a_generation(name)
    units = [a_unit(title) for title in titles]
    store.build(generation, [some_points(units, generation, EMBEDDER)])
    return generation


def ask(store: QdrantEdgeStore, generation: StoredGeneration, text: str = "ablazione"):
    request = build_request({"query": text, "purpose": "disambiguation"})
    rendered = render_query_text(request)
    return store.query(
        generation,
        HybridQuery(
            text=rendered,
            vector=EMBEDDER.embed_query(rendered),
            filter=make_filter(request, generation.key),
        ),
    )


def titles(answer: HybridAnswer) -> set[str]:
    return {hit.payload.title for hit in answer.fused}


def sealed_folder(home: Path, generation: StoredGeneration) -> Path:
    return home / "vectors" / generation.workspace / str(generation.id) / str(generation.attempt)


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def hashes_of(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files_of(folder)
    }


def test_a_sealed_folder_is_never_written_again(store, tmp_path):
    generation = build(store)
    before = hashes_of(sealed_folder(tmp_path, generation))
    for _ in range(3):
        ask(store, generation)
    store.summary(generation)
    store.close()
    assert hashes_of(sealed_folder(tmp_path, generation)) == before


def test_a_sealed_folder_shares_no_file_with_a_copy(store, tmp_path):
    generation = build(store)
    ask(store, generation)
    sealed = sealed_folder(tmp_path, generation)
    assert all(path.stat().st_nlink == 1 for path in files_of(sealed))


def test_holes_stay_holes_in_a_copy(store, tmp_path):
    generation = build(store)
    ask(store, generation)
    copied = files_of(tmp_path / "run")
    assert sum(path.stat().st_size for path in copied) > 50_000_000
    assert sum(path.stat().st_blocks * 512 for path in copied) < 20_000_000


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def flip(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 3)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 0x10]))


def zero(path: Path) -> None:
    size = path.stat().st_size
    path.unlink()
    path.write_bytes(b"")
    os.truncate(path, size)


@pytest.mark.parametrize("damage", [truncate, flip, zero, Path.unlink])
def test_no_damage_to_any_file_gives_a_wrong_answer(store, tmp_path, damage):
    generation = build(store)
    right = ask(store, generation)
    sealed = sealed_folder(tmp_path, generation)
    for path in files_of(sealed):
        kept = tmp_path / "kept"
        shutil.copy2(path, kept)
        damage(path)
        is_changed = not path.exists() or path.read_bytes() != kept.read_bytes()
        store.close()
        if is_changed:
            with pytest.raises(VectorStoreUnavailable):
                ask(store, generation)
        else:
            assert ask(store, generation) == right
        kept.rename(path)
    store.close()
    assert ask(store, generation) == right


def test_a_file_too_many_is_damage(store, tmp_path):
    generation = build(store)
    (sealed_folder(tmp_path, generation) / "shard" / "more").write_text("x")
    with pytest.raises(VectorStoreUnavailable):
        ask(store, generation)


@pytest.mark.parametrize(
    "changes", [{"revision": "b" * 40}, {"dimension": 32}, {"language": "en"}, {"avg_len": 3}]
)
def test_a_folder_of_another_generation_is_not_opened(store, changes):
    generation = build(store)
    other = replace(generation, **changes)
    request = build_request({"query": "x", "purpose": "disambiguation"})
    query = HybridQuery(
        text="x", vector=[1.0] * other.dimension, filter=make_filter(request, other.key)
    )
    with pytest.raises(VectorStoreUnavailable):
        store.query(other, query)


def test_an_answer_in_memory_ends_when_the_folder_is_gone(store, tmp_path):
    generation = build(store)
    ask(store, generation)
    shutil.rmtree(sealed_folder(tmp_path, generation))
    with pytest.raises(VectorStoreUnavailable):
        ask(store, generation)
    assert not list((tmp_path / "run").rglob("edge_config.json"))


def test_copies_are_removed_when_the_store_is_closed(store, tmp_path):
    ask(store, build(store))
    assert files_of(tmp_path / "run")
    store.close()
    assert not list((tmp_path / "run" / "vectors").iterdir())


def test_folders_of_dead_processes_are_swept_and_those_of_live_ones_are_not(store, tmp_path):
    run = tmp_path / "run" / "vectors"
    for name in ("1-dead", "2-alive", ".3-fresh", ".4-abandoned"):
        (run / name).mkdir(parents=True)
        (run / name / "alive.lock").touch()
    os.utime(run / ".4-abandoned", (0, time.time() - 7200))
    with (run / "2-alive" / "alive.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ask(store, build(store))
    left = {path.name for path in run.iterdir()}
    assert {"2-alive", ".3-fresh"} < left
    assert not {"1-dead", ".4-abandoned"} & left


def test_only_the_most_recent_copies_stay_open(tmp_path):
    store = QdrantEdgeStore(tmp_path)
    store._copies = PrivateCopies(tmp_path / "run" / "vectors", max_open=2)
    generations = [build(store, name) for name in ("one", "two", "three")]
    for generation in generations:
        assert titles(ask(store, generation)) == set(TITLES)
    opened = [path.name for path in (tmp_path / "run" / "vectors").glob("*/*-*")]
    assert {name.rpartition("-")[0] for name in opened} == {str(one.id) for one in generations[1:]}
    assert titles(ask(store, generations[0])) == set(TITLES)
    store.close()


def test_threads_get_whole_answers_of_one_generation_during_eight_activations(store):
    names = [f"activation {number}" for number in range(9)]
    generations = [build(store, name, titles=(*TITLES, name)) for name in names]
    live = [generations[0]]
    is_over = Event()

    def keep_asking() -> int:
        asked = 0
        while not is_over.is_set() or not asked:
            generation = live[0]
            answer = ask(store, generation, "attivazione ricovero")
            revisions = {hit.payload.vector_generation for hit in answer.fused}
            assert revisions == {generation.id}
            assert len(titles(answer)) == 4
            asked += 1
        return asked

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(keep_asking) for _ in range(4)]
        for generation in generations[1:]:
            time.sleep(0.05)
            live[0] = generation
        time.sleep(0.05)
        is_over.set()
        assert sum(reader.result(timeout=30) for reader in readers) > 8


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_opens_its_own_copy(store, tmp_path):
    generation = build(store)
    right = titles(ask(store, generation))
    child = os.fork()
    if child == 0:
        found = titles(ask(store, generation))
        folders = len(list((tmp_path / "run" / "vectors").iterdir()))
        os._exit(7 if (found, folders) == (right, 2) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert titles(ask(store, generation)) == right


ANOTHER_PROCESS = """
import sys
from pathlib import Path
from tests.publishing.test_qdrant_edge import QdrantEdgeStore, a_generation, ask, titles
store = QdrantEdgeStore(Path(sys.argv[1]))
print(sorted(titles(ask(store, a_generation("one")))), flush=True)
"""


def test_another_process_answers_from_the_same_folder_and_cleans_up(store, tmp_path):
    generation = build(store)
    ask(store, generation)
    run = tmp_path / "run" / "vectors"
    ours = set(run.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", ANOTHER_PROCESS, str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout.strip() == str(sorted(TITLES))
    assert set(run.iterdir()) == ours
    assert ask(store, generation).fused


def test_whatever_the_engine_raises_is_our_fault():
    for error in (Exception("Service runtime error"), ValueError("x"), BaseException("panic")):
        with pytest.raises(VectorStoreUnavailable), edge_engine.engine_faults():
            raise error


def test_an_exit_is_not_taken_for_a_fault_of_the_engine():
    with pytest.raises(KeyboardInterrupt), edge_engine.engine_faults():
        raise KeyboardInterrupt


def test_a_shard_that_was_closed_raises_our_fault(tmp_path):
    shard = edge_shards.create(tmp_path / "shard", dimension=4)
    edge_engine.close_shard(shard)
    with pytest.raises(VectorStoreUnavailable):
        edge_engine.count(shard)


def test_a_folder_that_cannot_be_written_is_unavailable(tmp_path):
    (tmp_path / "vectors").write_text("a file where a folder belongs")
    with pytest.raises(VectorStoreUnavailable):
        build(QdrantEdgeStore(tmp_path))


def test_a_finished_attempt_removes_what_earlier_ones_left_and_no_later_one(store, tmp_path):
    first = build(store)
    generation_folder = sealed_folder(tmp_path, first).parent
    for name in (".building-1-dead", ".building-3-alive", ".replaced-1-dead"):
        (generation_folder / name).mkdir()
    second = replace(first, attempt=2)
    points = some_points([a_unit(title) for title in TITLES], second, EMBEDDER)
    store.build(second, [points])
    assert {path.name for path in generation_folder.iterdir()} == {"2", ".building-3-alive"}
    assert titles(ask(store, second)) == set(TITLES)


def test_a_deletion_that_was_killed_is_finished_by_the_next(store, tmp_path):
    generation = build(store)
    workspace = sealed_folder(tmp_path, generation).parents[1]
    (workspace / ".deleted-half").mkdir()
    store.delete(generation)
    assert not list(workspace.iterdir())


@pytest.mark.parametrize("changes", [{"workspace_id": "altrui"}, {"workspace_revision": "b" * 40}])
def test_a_fragment_of_another_workspace_or_revision_is_never_an_answer(store, changes):
    generation = a_generation()
    points = some_points([a_unit(title) for title in TITLES], generation, EMBEDDER)
    forged = replace(points[0], payload=points[0].payload.model_copy(update=changes))
    store.build(generation, [[forged, *points[1:]]])
    with pytest.raises(MalformedPayload):
        ask(store, generation, "Fascia pediatrica")


def test_an_interrupted_build_leaves_no_folder(store, tmp_path):
    generation = a_generation()

    def interrupted() -> Iterator[list[Point]]:
        yield some_points([a_unit(TITLES[0])], generation, EMBEDDER)
        raise TimeoutError("the lease was lost")

    with pytest.raises(TimeoutError):
        store.build(generation, interrupted())
    assert store.inspect(generation) is CollectionState.MISSING
    assert files_of(tmp_path / "vectors") == []
