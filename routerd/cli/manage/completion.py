"""The scripts by which shells complete what is typed for these tools.

All that they offer is written into them, types and attributes from the schema included, so that completing asks
neither a router nor Python.
"""

import argparse
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from routerd.cli.manage.requests import OPERATIONS
from routerd.cli.manage.schema_names import attribute_names, entity_type, type_names
from routerd.cli.manage.users import ACTIONS, USER
from routerd.management import EntityType

_FILE_METAVAR = "FILE"
_WITH_TYPE_ARGUMENT = ("get-types", "get-attributes", "get-operations", "get-annotations")


@dataclass(frozen=True, slots=True)
class Option:
    """An option, as a shell needs to know it."""

    names: tuple[str, ...]
    help: str
    choices: tuple[str, ...] | None
    """What can follow it; nothing in particular if empty, and None if nothing does."""
    is_file: bool = False


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All that can be completed for one tool."""

    program: str
    options: tuple[Option, ...]
    operations: tuple[str, ...] = ()
    attributes: Mapping[str, tuple[str, ...]] | None = None
    """Of each entity type, by all names of it."""
    values: Mapping[str, tuple[str, ...]] | None = None
    """Of attributes that have only some, as `type.attribute`."""


def routerstat_script(shell: str, parser: argparse.ArgumentParser) -> str:
    """Return the script for `routerstat`."""
    columns = sorted({title for title in _column_titles(parser) if " " not in title})
    return _WRITERS[shell](Vocabulary("routerstat", _options(parser, {"--sort": tuple(columns)})))


def routermanage_script(shell: str, parser: argparse.ArgumentParser) -> str:
    """Return the script for `routermanage`."""
    types = type_names()
    kinds = {name: kind for name in types if (kind := entity_type(name) or _linked(name)) is not None}
    return _WRITERS[shell](
        Vocabulary(
            "routermanage",
            _options(parser, {"--type": tuple(types)}),
            (*OPERATIONS, USER),
            {name: tuple(attribute_names(kind)) for name, kind in kinds.items()},
            {
                f"{name}.{attribute.name}": attribute.tags or ("yes", "no")
                for name, kind in kinds.items()
                for attribute in kind.attributes.values()
                if attribute.tags or attribute.type.value == "boolean"
            },
        )
    )


def _linked(name: str) -> EntityType | None:
    return entity_type(f"router.{name}")


def _column_titles(parser: argparse.ArgumentParser) -> Iterable[str]:
    for action in parser._actions:
        titles = getattr(action.const, "titles", None)
        if titles is not None:
            yield from titles(is_verbose=True)


def _options(parser: argparse.ArgumentParser, choices: Mapping[str, tuple[str, ...]]) -> tuple[Option, ...]:
    made = []
    for action in parser._actions:
        if not action.option_strings:
            continue
        known: tuple[str, ...] | None = None
        if action.nargs != 0:
            known = next((choices[name] for name in action.option_strings if name in choices), None)
            known = known or tuple(map(str, action.choices or ()))
        text = re.sub(r"%\(default\)[sg]", str(action.default), action.help or "")
        made.append(Option(tuple(action.option_strings), text, known, action.metavar == _FILE_METAVAR))
    return tuple(made)


def _cases(table: Mapping[str, tuple[str, ...]], indent: str) -> str:
    by_words: dict[str, list[str]] = {}
    for name, words in table.items():
        by_words.setdefault(" ".join(words), []).append(name)
    return "\n".join(f"{indent}{'|'.join(names)}) echo '{words}' ;;" for words, names in by_words.items())


def _bash(vocabulary: Vocabulary) -> str:
    function = f"_{vocabulary.program}"
    options = " ".join(name for option in vocabulary.options for name in option.names)
    with_values = {"|".join(option.names): option.choices for option in vocabulary.options if option.choices}
    files = "|".join(name for option in vocabulary.options if option.is_file for name in option.names)
    bare = "|".join(
        name for option in vocabulary.options if option.choices == () and not option.is_file for name in option.names
    )
    cases = "\n".join(
        f"        {names}) COMPREPLY=($(compgen -W '{' '.join(words)}' -- \"$cur\")); return ;;"
        for names, words in with_values.items()
    )
    script = f"""{function}() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
    COMPREPLY=()
    case "$prev" in
{cases}
        {files}) COMPREPLY=($(compgen -f -- "$cur")); return ;;
        {bare}) return ;;
    esac
    if [[ "$cur" == -* ]]; then
        COMPREPLY=($(compgen -W '{options}' -- "$cur"))
        return
    fi
"""
    if vocabulary.operations:
        script += _bash_arguments(vocabulary, function, bare, files, "|".join(with_values))
    script += f"}}\ncomplete -F {function} {vocabulary.program}\n"
    if vocabulary.attributes is not None and vocabulary.values is not None:
        script = (
            f'{function}_attributes() {{\n    case "$1" in\n{_cases(vocabulary.attributes, " " * 8)}\n    esac\n}}\n'
            f'{function}_values() {{\n    case "$1" in\n{_cases(vocabulary.values, " " * 8)}\n    esac\n}}\n{script}'
        )
    return script


def _bash_arguments(vocabulary: Vocabulary, function: str, bare: str, files: str, valued: str) -> str:
    return f"""    local operation= kind= attribute= word= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${{COMP_WORDS[i]}}
        case "$word" in
            --type) kind=${{COMP_WORDS[i+1]}}; ((i++)) ;;
            --type=*) kind=${{word#*=}} ;;
            {bare}|{files}|{valued}) ((i++)) ;;
            -*) ;;
            *) [[ -z "$operation" ]] && operation=$word ;;
        esac
    done
    if [[ -z "$operation" ]]; then
        COMPREPLY=($(compgen -W '{" ".join(vocabulary.operations)}' -- "$cur"))
        return
    fi
    kind=${{kind#org.apache.qpid.dispatch.}}
    kind=${{kind#org.mobula.}}
    case "$operation" in
        {"|".join(_WITH_TYPE_ARGUMENT)})
            COMPREPLY=($(compgen -W '{" ".join(sorted(vocabulary.attributes or ()))}' -- "$cur")) ;;
        {USER})
            COMPREPLY=($(compgen -W '{" ".join(ACTIONS)}' -- "$cur")) ;;
        query)
            COMPREPLY=($(compgen -W "$({function}_attributes "$kind")" -- "$cur")) ;;
        create|update)
            # bash takes `=` for a word of its own, zsh does not.
            if [[ "$cur" == "=" ]]; then attribute=$prev cur=
            elif [[ "$prev" == "=" ]]; then attribute=${{COMP_WORDS[COMP_CWORD-2]}}
            elif [[ "$cur" == *=* ]]; then attribute=${{cur%%=*}}
            fi
            if [[ "$cur" == *=* ]]; then
                COMPREPLY=($(compgen -P "$attribute=" -W "$({function}_values "$kind.$attribute")" -- "${{cur#*=}}"))
            elif [[ -n "$attribute" ]]; then
                COMPREPLY=($(compgen -W "$({function}_values "$kind.$attribute")" -- "$cur"))
            else
                compopt -o nospace 2>/dev/null
                COMPREPLY=($(compgen -S = -W "$({function}_attributes "$kind")" -- "$cur"))
            fi ;;
    esac
"""


def _zsh(vocabulary: Vocabulary) -> str:
    return f"autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n{_bash(vocabulary)}"


def _fish(vocabulary: Vocabulary) -> str:
    program = vocabulary.program
    lines = [f"complete -c {program} -f"]
    for option in vocabulary.options:
        names = " ".join(f"-{'l' if name.startswith('--') else 's'} {name.lstrip('-')}" for name in option.names)
        line = f"complete -c {program} {names} -d {_fish_quoted(option.help)}"
        if option.is_file:
            line += " -r -F"
        elif option.choices is not None:
            line += " -x" + (f" -a {_fish_quoted(' '.join(option.choices))}" if option.choices else "")
        lines.append(line)
    if vocabulary.operations:
        lines += _fish_arguments(vocabulary)
    return "\n".join(lines) + "\n"


def _fish_arguments(vocabulary: Vocabulary) -> list[str]:
    program = vocabulary.program
    operations = " ".join(vocabulary.operations)
    lines = [
        f"function __{program}_arguments",
        "    set -l words (commandline -opc)",
        "    set -l kind",
        "    for at in (seq (count $words))",
        "        if test $words[$at] = --type; and test (count $words) -gt $at",
        "            set kind $words[(math $at + 1)]",
        "        end",
        "    end",
        "    set kind (string replace -r '^org\\.(apache\\.qpid\\.dispatch|mobula)\\.' '' -- $kind)",
        "    set -l suffix =",
        "    contains -- query $words; and set suffix ''",
        "    switch $kind",
    ]
    by_words: dict[str, list[str]] = {}
    for name, words in (vocabulary.attributes or {}).items():
        by_words.setdefault(" ".join(words), []).append(name)
    for attributes, kinds in by_words.items():
        lines.append(f"        case {' '.join(kinds)}")
        lines.append(f"            printf '%s\\n' {attributes} | sed \"s/\\$/$suffix/\"")
    return [
        *lines,
        "    end",
        "end",
        f"complete -c {program} -n 'not __fish_seen_subcommand_from {operations}' -a {_fish_quoted(operations)}",
        f"complete -c {program} -n '__fish_seen_subcommand_from query create update' -a '(__{program}_arguments)'",
        f"complete -c {program} -n '__fish_seen_subcommand_from {USER}' -a {_fish_quoted(' '.join(ACTIONS))}",
        f"complete -c {program} -n '__fish_seen_subcommand_from {' '.join(_WITH_TYPE_ARGUMENT)}' "
        f"-a {_fish_quoted(' '.join(sorted(vocabulary.attributes or ())))}",
    ]


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_WRITERS: Mapping[str, Callable[[Vocabulary], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
