"""Networks by name, and the checks of a user's own network."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from drgst.errors import SettingError, unknown
from drgst.nn.models.appnp import APPNP, DAGNN, PPNP
from drgst.nn.models.base import Backbone, TwoPart
from drgst.nn.models.gat import GAT
from drgst.nn.models.gcn import GCN, SGC, Cheb
from drgst.nn.models.sage import GIN, SAGE

BACKBONES: dict[str, type[Backbone]] = {
    "gcn": GCN,
    "gat": GAT,
    "appnp": APPNP,
    "ppnp": PPNP,
    "sgc": SGC,
    "sage": SAGE,
    "gin": GIN,
    "cheb": Cheb,
    "dagnn": DAGNN,
}
COMMON = ("hidden", "dropout", "start")  # settings that are passed to our networks only


def make_backbone(spec: str | Callable[..., nn.Module], features: int, classes: int, **settings: Any) -> nn.Module:
    """A new network for (N, ``features``) inputs and ``classes`` classes.

    ``spec`` is a name of :data:`BACKBONES`, one of its classes, or a user's own callable, which is called with
    (features, classes) and returns an ``nn.Module`` with ``hidden(x, adj)`` and ``head(h, adj)``. The settings
    ``hidden``, ``dropout`` and ``start`` apply to our networks only (None: the default of the network); others are
    passed on. The initial weights come from torch's generator: call this inside
    :func:`~drgst.nn.random.seeded_torch`.
    """
    if isinstance(spec, str):
        if spec.lower() not in BACKBONES:
            raise SettingError(unknown("backbone", spec, BACKBONES))
        spec = BACKBONES[spec.lower()]
    if isinstance(spec, type) and issubclass(spec, Backbone) and spec in BACKBONES.values():
        return _make_ours(spec, features, classes, settings)
    extra = {name: value for name, value in settings.items() if name not in COMMON}
    return _make_users(spec, features, classes, extra)


def _make_ours(kind: type[Backbone], features: int, classes: int, settings: dict[str, Any]) -> Backbone:
    known = list(inspect.signature(kind).parameters)[2:]
    extra = sorted(settings.keys() - {*known, *COMMON})
    if extra:
        raise SettingError(unknown(f"setting of {kind.__name__}", extra[0], set(known) - {*COMMON}))
    given = {name: value for name, value in settings.items() if name in known and value is not None}
    if given.get("hidden", 1) < 1:
        raise SettingError(f"hidden is {given['hidden']} (allowed: 1 or more)")
    if not 0 <= given.get("dropout", 0) < 1:
        raise SettingError(f"dropout is {given['dropout']} (allowed: 0 or more, below 1)")
    make: Callable[..., Backbone] = kind
    return make(features, classes, **given)


def _make_users(spec: Any, features: int, classes: int, extra: dict[str, Any]) -> nn.Module:
    if isinstance(spec, nn.Module):
        raise SettingError(
            f"backbone is an instance of {type(spec).__name__}, but every training needs a new network; "
            "give a function of (features, classes) that returns one"
        )
    if not callable(spec):
        raise SettingError(
            f"backbone is {spec!r} (allowed: {', '.join(BACKBONES)}, or a function of features, classes)"
        )
    name = getattr(spec, "__name__", type(spec).__name__)
    try:
        inspect.signature(spec).bind(features, classes, **extra)
    except TypeError as error:
        raise SettingError(f"backbone {name} can't be called with (features, classes): {error}") from error
    return check_two_part(spec(features, classes, **extra), name)


def check_two_part(network: Any, name: str) -> nn.Module:
    """Raise :class:`SettingError` if a user's network does not follow the protocol :class:`TwoPart`."""
    if not isinstance(network, nn.Module):
        raise SettingError(f"backbone {name} returned a {type(network).__name__}, not a torch.nn.Module")
    for part, arguments in (("hidden", "x, adj"), ("head", "h, adj")):
        method = getattr(network, part, None)
        if not callable(method):
            raise SettingError(
                f"backbone {name} has no method {part}({arguments}); it needs hidden(x, adj) and head(h, adj)"
            )
        try:
            inspect.signature(method.forward if isinstance(method, nn.Module) else method).bind(None, None)
        except TypeError as error:
            raise SettingError(f"{part} of backbone {name} must take ({arguments}): {error}") from error
    if getattr(network, "random_hidden", True) is False and not callable(getattr(network, "drop", None)):
        raise SettingError(f"backbone {name} has random_hidden=False, so it needs a dropout module called drop")
    if not any(p.requires_grad for p in network.parameters()):
        raise SettingError(f"backbone {name} has no trainable parameter")
    assert isinstance(network, TwoPart)
    return network
