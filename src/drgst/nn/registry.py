"""Networks by name, and a user's own networks: by import path, class, function or instance."""

from __future__ import annotations

import inspect
from typing import Any

from torch import nn

from drgst.errors import SettingError, unknown
from drgst.extras import import_named
from drgst.nn.networks import APPNP, GAT, GCN, Backbone
from drgst.nn.pyg_module import PyGModule, fresh_copy

BACKBONES: dict[str, type[Backbone]] = {"gcn": GCN, "gat": GAT, "appnp": APPNP}
COMMON = ("hidden", "dropout", "start")  # settings of our networks; a user's network takes them as PYG_ARGUMENTS only
PYG_ARGUMENTS = {"hidden": "hidden_channels", "dropout": "dropout"}  # setting -> argument of a class in PyG's style
PYG_LAYERS = 2  # num_layers of a class in PyG's style that has no default for it, as in our networks


def make_backbone(spec: Any, features: int, classes: int, **settings: Any) -> Backbone:
    """A new network for (N, ``features``) inputs and ``classes`` classes.

    ``spec`` is a name of :data:`BACKBONES` or one of its classes, or a user's own module: a class, its import path
    ``"package.module:Class"``, a function of (features, classes) or an instance, which is copied with new weights.
    A class that names ``in_channels`` and ``out_channels`` as PyG does is also given ``hidden_channels``, ``dropout``
    and ``num_layers`` where it has them; any other is called with (features, classes). The module has
    ``forward(x, edge_index)`` or ``forward(x, edge_index, edge_weight)``, or is a
    :class:`~drgst.nn.networks.Backbone`.

    The ``settings`` are ``hidden``, ``dropout`` and ``start`` of our networks. The initial weights come from torch's
    generator: call this inside :func:`~drgst.nn.random.seeded_torch`.
    """
    if isinstance(spec, str) and ":" not in spec:
        if spec.lower() not in BACKBONES:
            raise SettingError(unknown("backbone", spec, BACKBONES))
        spec = BACKBONES[spec.lower()]
    elif isinstance(spec, str):
        spec = import_class(spec)
    if is_ours(spec):
        known = inspect.signature(spec).parameters
        return spec(features, classes, **{name: value for name, value in settings.items() if name in known})
    network, name = _make_users(spec, features, classes, settings)
    if not any(p.requires_grad for p in network.parameters()):
        raise SettingError(f"backbone {name} has no trainable parameter")
    if isinstance(network, Backbone):
        return network
    try:
        inspect.signature(network.forward).bind(None, None)
    except TypeError as error:
        arguments = "(x, edge_index) or (x, edge_index, edge_weight)"
        raise SettingError(f"forward of backbone {name} must take {arguments}: {error}") from error
    return PyGModule(network, classes)


def is_ours(spec: Any) -> bool:
    """Whether ``spec`` is a name or a class of :data:`BACKBONES`."""
    return spec.lower() in BACKBONES if isinstance(spec, str) else any(spec is kind for kind in BACKBONES.values())


def settings_of(spec: Any) -> tuple[str, ...]:
    """The settings of :data:`COMMON` that the network ``spec`` takes."""
    if is_ours(spec):
        return COMMON
    known = _pyg_parameters(import_class(spec) if isinstance(spec, str) else spec)
    return tuple(setting for setting, argument in PYG_ARGUMENTS.items() if argument in known)


def import_class(path: str) -> type[nn.Module]:
    """The ``nn.Module`` class at the import path ``"package.module:Class"``; anything else there is refused."""
    found = import_named(path, "backbone")
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        raise SettingError(f"backbone {path!r} is not a class derived from torch.nn.Module")
    return found


def import_path(spec: Any) -> str | None:
    """``"package.module:Class"`` of a class that another process can import; None for everything else."""
    if not isinstance(spec, type) or spec.__module__ == "__main__":
        return None
    path = f"{spec.__module__}:{spec.__qualname__}"
    try:
        return path if import_class(path) is spec else None
    except SettingError:  # a class that was defined inside a function
        return None


def _make_users(spec: Any, features: int, classes: int, settings: dict[str, Any]) -> tuple[nn.Module, str]:
    """The user's module and its name."""
    if isinstance(spec, nn.Module):
        return fresh_copy(spec), type(spec).__name__
    if not callable(spec):
        raise SettingError(
            f"backbone is {spec!r} (allowed: {', '.join(BACKBONES)}, or a class, a function of (features, classes) or "
            "an instance of torch.nn.Module)"
        )
    name = getattr(spec, "__name__", type(spec).__name__)
    known = _pyg_parameters(spec)
    positional: tuple[int, ...] = () if known else (features, classes)
    given: dict[str, Any] = {}
    if known:
        given = {"in_channels": features, "out_channels": classes}
        given |= {PYG_ARGUMENTS[name]: value for name, value in settings.items() if PYG_ARGUMENTS.get(name) in known}
        if "num_layers" in known and known["num_layers"].default is inspect.Parameter.empty:
            given["num_layers"] = PYG_LAYERS
    try:
        inspect.signature(spec).bind(*positional, **given)
    except TypeError as error:
        raise SettingError(
            f"backbone {name} can't be called with (features, classes): {error}; "
            f"give a function such as lambda features, classes: {name}(…)"
        ) from error
    network = spec(*positional, **given)
    if not isinstance(network, nn.Module):
        raise SettingError(f"backbone {name} returned a {type(network).__name__}, not a torch.nn.Module")
    return network, name


def _pyg_parameters(spec: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a class that names in_channels and out_channels as PyG does; else none."""
    if not isinstance(spec, type):
        return {}
    known = dict(inspect.signature(spec).parameters)
    return known if {"in_channels", "out_channels"} <= known.keys() else {}
