"""The HTTP side of the workbench: a page, a small JSON API and a stream of events, for this machine alone."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from drgst.errors import DrgstError, RunError
from drgst.report.compare import comparison
from drgst.report.html import render
from drgst.report.serve.session import Document, Session
from drgst.report.serve.source import Given, open_source, runs_below
from drgst.runs.folder import RunFolder
from drgst.runs.run import load_result

HOST = "127.0.0.1"
BODY = 4096  # bytes of a request
SILENCE = 0.5  # seconds after which a comment keeps the event stream open, and the end of the server is checked
HEADERS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Workbench:
    """The sessions of a server: one source, or every run below a folder, opened when it is first asked for."""

    def __init__(self, given: str, more: Given) -> None:
        several = not RunFolder(given).exists and Path(given).is_dir() and runs_below(Path(given))
        self.folder = Path(given) if several else None
        self.sessions: dict[str, Session] = {}
        self._listeners: list[tuple[str, asyncio.Queue[str]]] = []
        self._opening = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.ends: Callable[[], bool] = lambda: False  # whether the server is about to end
        if self.folder is None:
            self.sessions[""] = Session(open_source(given, more))

    def start(self) -> None:
        """Begin to fit; called in the event loop of the server."""
        self._loop = asyncio.get_running_loop()
        for name, session in self.sessions.items():
            session.start(self._publisher(name), self.ends)

    def session(self, name: str) -> Session:
        """The session of a run by its name, one of :meth:`runs`."""
        with self._opening:  # a page asks for its content and its events at once
            if name not in self.sessions:
                if self.folder is None or name not in runs_below(self.folder):
                    raise RunError(f"there is no run {name!r} here")
                self.sessions[name] = Session(open_source(str(self.folder / name), Given()))
                self.sessions[name].start(self._publisher(name), self.ends)
            return self.sessions[name]

    @property
    def below(self) -> Path:
        """The folder whose runs are shown: the one that was given, or that of the one source."""
        return self.folder or self.sessions[""].source.folder

    def runs(self) -> list[Document]:
        """The runs below the folder with their recipe and accuracy."""
        found = []
        for name in runs_below(self.below):
            summary = RunFolder(self.below / name).summary()
            facts = {key: summary.get(key) for key in ("dataset", "recipe", "test_accuracy", "oof_accuracy")}
            found.append({"name": name, **facts})
        return found

    def compare(self, session: Session, name: str) -> Document:
        """What another run predicts for the nodes of a session."""
        if name not in runs_below(self.below):
            raise RunError(f"there is no run {name!r} here")
        return comparison(session.known(), load_result(self.below / name), session.sample)

    def close(self) -> None:
        """Release all labels files."""
        for session in self.sessions.values():
            session.close()

    def _publisher(self, name: str) -> Callable[[str, Document], None]:
        def publish(event: str, content: Document) -> None:
            message = f"event: {event}\ndata: {json.dumps(content, allow_nan=False)}\n\n"
            for listener in [queue for session, queue in self._listeners if session == name]:
                if self._loop is not None:
                    with contextlib.suppress(RuntimeError):  # the server has ended
                        self._loop.call_soon_threadsafe(listener.put_nowait, message)

        return publish

    async def events(self, name: str) -> AsyncIterator[str]:
        """The events of a session as they happen."""
        mine: asyncio.Queue[str] = asyncio.Queue()
        self._listeners.append((name, mine))
        try:
            while not self.ends():
                try:
                    yield await asyncio.wait_for(mine.get(), SILENCE)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self._listeners.remove((name, mine))


class Guard:
    """Refuses requests without the token, of another site or host, and of more than 4 KB; adds headers to answers."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = {f"{name}:{port}" for name in (HOST, "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # what starts and ends the server
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(key.encode(), value.encode()) for key, value in HEADERS.items()]
            await send(message)

        request = Request(scope, receive)
        reason = self.reason(request)
        if reason:
            await PlainTextResponse(reason, 403)(scope, receive, guarded)
            return
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > BODY:
                await PlainTextResponse(f"a request may have at most {BODY:,} bytes", 413)(scope, receive, guarded)
                return
        await self.app(scope, _replayed(body, receive), guarded)

    def reason(self, request: Request) -> str:
        """Why the request is refused; "" if it is not."""
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if host not in self.hosts:
            return "this server answers this machine only"
        if origin is not None and origin != f"http://{host}":
            return "requests of other sites are refused"
        token = request.headers.get("x-drgst-token") or request.query_params.get("token", "")
        if not secrets.compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            return "use the address that drgst serve printed: it contains a token"
        return ""


def _replayed(body: bytes, receive: Receive) -> Receive:
    """``receive`` after a body that was read already."""
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def make_app(workbench: Workbench, token: str, port: int) -> ASGIApp:
    """The application of a server on ``port``."""

    async def page(_: Request) -> Response:
        runs = [] if workbench.folder is None else await run_in_threadpool(workbench.runs)
        text = render({"live": True, "title": "drgst", "runs": runs})
        return HTMLResponse(text)

    async def events(request: Request) -> Response:
        name = request.query_params.get("run", "")
        try:
            await run_in_threadpool(workbench.session, name)
        except DrgstError as error:
            return JSONResponse({"error": str(error)}, 400)
        return StreamingResponse(workbench.events(name), media_type="text/event-stream")

    def call(make: Callable[[Session, Document], Any], *fields: tuple[str, type]) -> Callable[..., Any]:
        """An endpoint that calls ``make`` with the session and the checked JSON body."""

        async def endpoint(request: Request) -> Response:
            try:
                body = _checked(await request.body(), fields) if request.method == "POST" else request.path_params
                session = await run_in_threadpool(workbench.session, request.query_params.get("run", ""))
                return JSONResponse(await run_in_threadpool(make, session, dict(body)))
            except DrgstError as error:
                return JSONResponse({"error": str(error)}, 400)

        return endpoint

    def post(path: str, make: Callable[[Session, Document], Any], *fields: tuple[str, type]) -> Route:
        return Route(path, call(make, *fields), methods=["POST"])

    routes = [
        Route("/", page),
        Route("/api/events", events),
        Route("/api/page", call(lambda session, _: session.page())),
        Route("/api/model", call(lambda session, _: session.model())),
        Route("/api/state", call(lambda session, _: session.state())),
        Route("/api/why/{node:int}", call(lambda session, given: session.explain(given["node"]))),
        Route("/api/runs", call(lambda _session, _given: workbench.runs())),
        Route("/api/compare/{name:path}", call(lambda session, given: workbench.compare(session, given["name"]))),
        post("/api/label", lambda s, given: s.label(given["node"], given["label"]), ("node", int), ("label", str)),
        post("/api/skip", lambda s, given: s.skip(given["node"]), ("node", int)),
        post("/api/undo", lambda s, _: s.undo()),
        post("/api/class", lambda s, given: s.add_class(given["name"]), ("name", str)),
        post("/api/forecast", lambda s, _: s.forecast()),
        post("/api/save", lambda s, _: s.save()),
    ]

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        workbench.start()
        yield

    return Guard(Starlette(routes=routes, lifespan=lifespan), token, port)


def _checked(body: bytes, fields: tuple[tuple[str, type], ...]) -> Document:
    """The JSON object ``body`` with exactly ``fields``, each of its type."""
    try:
        given = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise RunError("the request is not JSON") from None
    names = [name for name, _ in fields]
    if not isinstance(given, dict) or sorted(given) != sorted(names):
        raise RunError(f"the request needs the fields {', '.join(names) or '(none)'}")
    for name, kind in fields:
        if type(given[name]) is not kind:
            raise RunError(f"the field {name} has the wrong type")
    return given


def serve(workbench: Workbench, port: int, opened: Callable[[str, Any], None]) -> None:
    """Serve until Ctrl-C; ``opened`` is given the address and the server, whose ``should_exit`` ends it, too."""
    import uvicorn

    token = secrets.token_urlsafe(16)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
            listener.listen()  # a browser that is quicker than the server waits
        except OSError as error:
            raise RunError(f"port {port} can't be used: {error.strerror or error}") from error
        port = listener.getsockname()[1]
        app = make_app(workbench, token, port)
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=3, server_header=False)
        )
        workbench.ends = lambda: server.should_exit
        opened(f"http://{HOST}:{port}/?token={token}", server)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
    workbench.close()
