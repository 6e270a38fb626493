"""Likelihoods and priors as scikit-learn wants its parts: parameters that can be read and set."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Settable"]


class Settable:
    """`get_params` and `set_params` for a frozen dataclass."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the constructor's arguments, as scikit-learn asks for them.

        Parameters
        ----------
        deep : bool
            Makes no difference: the parameters have none of their own.
        """
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **params: Any) -> Self:
        """Change parameters in place; for scikit-learn's searches, as ``likelihood__r``.

        All are checked first: if one is refused, nothing has changed. Elsewhere use
        ``dataclasses.replace``, which leaves the object as it is.

        Examples
        --------
        >>> from mixwood import Gaussian
        >>> Gaussian().set_params(r=0.5)
        Gaussian(r=0.5, nu=None, mean=None, scale='learn')
        """
        known = self.get_params()
        for name in params:
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}"
                )
        changed = replace(self, **params)  # type: ignore[type-var]
        for name in known:
            object.__setattr__(self, name, getattr(changed, name))
        return self

    def __sklearn_clone__(self) -> Self:
        return replace(self)  # type: ignore[type-var]
