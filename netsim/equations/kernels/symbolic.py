"""CasADi, imported where the first expression is built: a run whose component types are known builds none."""

from typing import Any


class _Later:
    """A module that is imported when something of it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        import casadi

        return getattr(casadi, name)

    def __dir__(self) -> list[str]:
        import casadi

        return dir(casadi)


ca: Any = _Later()
