"""Networks by name, and a user's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from drgst.errors import SettingError, unknown
from drgst.nn.models.appnp import APPNP, PPNP
from drgst.nn.models.base import Backbone, TwoPart
from drgst.nn.models.cheb import Cheb
from drgst.nn.models.dagnn import DAGNN
from drgst.nn.models.gat import GAT
from drgst.nn.models.gcn import GCN
from drgst.nn.models.gin import GIN
from drgst.nn.models.sage import SAGE
from drgst.nn.models.sgc import SGC
from drgst.nn.ops.linear import STARTS

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

Spec = str | Callable[..., nn.Module]


def make_backbone(
    spec: Spec,
    features: int,
    classes: int,
    hidden: int | None = None,
    dropout: float | None = None,
    start: str = "glorot",
    **extra: Any,
) -> nn.Module:
    """A new network for (N, ``features``) inputs and ``classes`` classes.

    ``spec`` is a name of :data:`BACKBONES`, one of its classes, or a user's own callable, which is given
    (features, classes) and returns an ``nn.Module`` with ``hidden(x, adj)`` and ``head(h, adj)``. ``hidden``,
    ``dropout`` and ``start`` are for ours (None: the network's own default, from its paper); ``extra`` goes to
    the network as it is. Starting weights come from torch's generator: call it inside ``private_randomness``.
    """
    if isinstance(spec, str):
        if spec.lower() not in BACKBONES:
            raise SettingError(unknown("backbone", spec, BACKBONES))
        spec = BACKBONES[spec.lower()]
    if isinstance(spec, type) and issubclass(spec, Backbone) and spec in BACKBONES.values():
        return _ours(spec, features, classes, hidden, dropout, start, extra)
    return _users(spec, features, classes, extra)


def _ours(
    kind: type[Backbone],
    features: int,
    classes: int,
    hidden: int | None,
    dropout: float | None,
    start: str,
    extra: dict[str, Any],
) -> Backbone:
    known = list(inspect.signature(kind).parameters)
    for name in extra:
        if name not in known:
            raise SettingError(unknown(f"setting of {kind.__name__}", name, known[5:]))
    if hidden is not None and hidden < 1:
        raise SettingError(f"hidden is {hidden} (allowed: 1 or more)")
    if dropout is not None and not 0 <= dropout < 1:
        raise SettingError(f"dropout is {dropout} (allowed: 0 or more, below 1)")
    if start not in STARTS:
        raise SettingError(unknown("start", start, STARTS))
    given = {name: value for name, value in (("hidden", hidden), ("dropout", dropout)) if value is not None}
    make: Callable[..., Backbone] = kind
    return make(features, classes, start=start, **given, **extra)


def _users(spec: Any, features: int, classes: int, extra: dict[str, Any]) -> nn.Module:
    if isinstance(spec, nn.Module):
        raise SettingError(
            f"backbone is a {type(spec).__name__} that exists already, but every training starts afresh; "
            "give a function of (features, classes) that makes one"
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
    """Refuse what a user's callable returned if it does not keep the protocol of :class:`TwoPart`."""
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
        raise SettingError(f"backbone {name} says random_hidden=False, so it needs a dropout module called drop")
    if not any(p.requires_grad for p in network.parameters()):
        raise SettingError(f"backbone {name} has no parameter that could be learnt")
    assert isinstance(network, TwoPart)
    return network
