"""One repository, brought up to date: asked, tried again where that may help, and published."""

from __future__ import annotations

import random
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

import anyio

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.repository import RepositoryAddress
from fingerpost.errors import RepositoryError, RepositoryNotFoundError, RepositoryUnavailableError
from fingerpost.lanes.backoff import jittered
from fingerpost.lanes.web.visit import Visitor
from fingerpost.repos.git_place import GitPlace
from fingerpost.repos.github import Github
from fingerpost.repos.known import COMMIT, Fetched, Known
from fingerpost.repos.mirror import Draft, Mirror
from fingerpost.repos.select import Limits

T = TypeVar("T")

_STOP_CHECK_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a repository is asked, and how long between.

    Attributes:
        n_tries: At least 1.
        longest_wait_s: A server that wants a longer wait is not asked again this time.
        draw: Random numbers, 0 to 1.
    """

    n_tries: int = 3
    longest_wait_s: float = 60.0
    draw: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class Sources:
    """What repositories are fetched with.

    Attributes:
        api: Address of GitHub's API, and the key.
        limits: How much of each is taken.
        visitor: Asks at public addresses only.
        patience: With servers that fail.
        stopped: Ends what runs.
    """

    api: Endpoint
    limits: Limits
    visitor: Visitor = field(default_factory=Visitor)
    patience: Patience = Patience()
    stopped: threading.Event = field(default_factory=threading.Event)


def fetch(address: RepositoryAddress, mirror: Mirror, sources: Sources) -> bool:
    """Bring a mirror up to date; blocks. Return whether it has another folder now.

    A folder that lost files is fetched anew though its commit is the newest.

    Raises:
        RepositoryError: It could not be fetched or kept; the mirror stays as it was, with the
            reason in its state.
    """
    try:
        with mirror.draft() as draft:
            return _into(draft, address, mirror, sources)
    except (RepositoryError, OSError) as error:
        failure = _told(error, address, mirror)
        mirror.checked(error=str(failure), hint=failure.hint)
        raise failure from error


def _into(draft: Draft, address: RepositoryAddress, mirror: Mirror, sources: Sources) -> bool:
    state = mirror.state
    folder = mirror.snapshot(state.commit) if state.commit else None
    known = Known(state.commit, state.mark, folder) if mirror.is_whole else Known(folder=folder)
    fetched = _patiently(partial(_fetch, address, sources, known, draft), draft, sources)
    if fetched is None or fetched.commit == known.commit:
        mirror.checked(mark=fetched.mark if fetched else "")
        return False
    mirror.publish(draft, fetched.commit, fetched.mark)
    return True


def _told(
    error: RepositoryError | OSError, address: RepositoryAddress, mirror: Mirror
) -> RepositoryError:
    """Return the error with the name of the repository in front, and what to do about it."""
    if isinstance(error, OSError):
        return RepositoryError(
            f"{address.name}: it cannot be kept: {error.strerror or type(error).__name__}",
            hint=f"See that {mirror.folder} is a folder that you may write to, on a disk with "
            "room, or remove it: what was in it is fetched again.",
        )
    error.args = (f"{address.name}: {error}",)
    error.hint = error.hint or _hint(error, address)
    return error


def _hint(error: RepositoryError, address: RepositoryAddress) -> str:
    if isinstance(error, RepositoryNotFoundError):
        return "Correct its address, or the branch, tag or full commit behind '@'."
    # Git says in words alone that a commit is not there.
    named = " See that it has the commit behind '@'." if COMMIT.fullmatch(address.ref) else ""
    if isinstance(error, RepositoryUnavailableError):
        return f"See that its server can be reached from here, and fetch it again later.{named}"
    if address.kind == "local":
        return (
            "Give the folder of a git repository that is whole and that you may read. Git reads "
            f"no folder that another user owns: give a copy of your own.{named}"
        )
    return named.strip()


def _fetch(
    address: RepositoryAddress, sources: Sources, known: Known, draft: Draft
) -> Fetched | None:
    if address.kind != "github":
        place = GitPlace(address, sources.limits, sources.visitor, sources.stopped)
        return place.fetch(known, draft)
    github = Github(sources.api, address, sources.limits, sources.visitor)
    return anyio.run(_until_stopped, partial(github.fetch, known, draft), sources.stopped)


async def _until_stopped(call: Callable[[], Awaitable[T]], stopped: threading.Event) -> T:
    """Return what ``call`` returns; give it up when ``stopped`` is set.

    Raises:
        RepositoryError: The call failed, or was given up.
        OSError: It could not write.
    """
    result: list[T] = []
    failure: RepositoryError | OSError = RepositoryError("the fetch was given up")
    async with anyio.create_task_group() as group:
        group.start_soon(_cancel_when, stopped, group.cancel_scope)
        try:
            result.append(await call())
        except (RepositoryError, OSError) as error:  # as it is, in no group
            failure = error
        group.cancel_scope.cancel()
    if not result:
        raise failure
    return result[0]


async def _cancel_when(stopped: threading.Event, scope: anyio.CancelScope) -> None:
    while not stopped.is_set():  # noqa: ASYNC110 - it is set by another thread
        await anyio.sleep(_STOP_CHECK_S)
    scope.cancel()


def _patiently(
    call: Callable[[], Fetched | None], draft: Draft, sources: Sources
) -> Fetched | None:
    """Return what a call returns; after a failure that may pass, wait and try again."""
    patience, stopped = sources.patience, sources.stopped
    for n_earlier in range(patience.n_tries):
        try:
            return call()
        except RepositoryUnavailableError as error:
            wait = jittered(n_earlier, patience.draw()) if error.wait_s is None else error.wait_s
            is_last = n_earlier + 1 == patience.n_tries
            if is_last or wait > patience.longest_wait_s or stopped.wait(wait):
                raise
            draft.clear()
    raise AssertionError("unreachable: the last try returns or raises")
