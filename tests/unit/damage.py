"""What people and their tools do to a file without meaning to change it: one function a kind."""

import re
import textwrap
import unicodedata
from collections.abc import Callable


def by_line(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: "\n".join(map(change, text.split("\n")))


def body(change: Callable[[str], str]) -> Callable[[str], str]:
    """Change what stands below the front matter."""

    def changed(text: str) -> str:
        head, fence, rest = text.partition("\n---\n\n")
        return head + fence + change(rest)

    return changed


def bullets(marker: str) -> Callable[[str], str]:
    return body(lambda text: re.sub(r"(?m)^( *)- ", rf"\g<1>{marker} ", text))


def numbered(end: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        lines, count = [], {}
        for line in text.split("\n"):
            found = re.match(r"( *)- ", line)
            if found:
                indent = len(found[1])
                count = {deep: at for deep, at in count.items() if deep <= indent}
                count[indent] = count.get(indent, 0) + 1
                marker = f"{' ' * (indent * 3 // 2)}{count[indent]}{end}"
                lines.append(f"{marker} {line[found.end() :]}")
                continue
            if line.startswith("#"):
                count = {}
            lines.append(line)
        return "\n".join(lines)

    return body(change)


def wrapped(width: int, *, indent: bool) -> Callable[[str], str]:
    def change(line: str) -> str:
        found = re.match(r"( *)- ", line)
        if not found or len(line) <= width:
            return line
        behind = " " * found.end() if indent else ""
        return textwrap.fill(
            line,
            width,
            subsequent_indent=behind,
            break_long_words=False,
            break_on_hyphens=False,
            drop_whitespace=True,
        )

    return by_line(change)


def outside_front(pattern: str, put: str | Callable[[re.Match[str]], str]) -> Callable[[str], str]:
    return body(lambda text: re.sub(pattern, put, text))


DAMAGES: dict[str, Callable[[str], str]] = {
    "stripped_indentation": body(by_line(str.lstrip)),
    "asterisks_as_bullets": bullets("*"),
    "plus_signs_as_bullets": bullets("+"),
    "wide_bullets": bullets("-  "),
    "numbered_lists": numbered("."),
    "numbered_lists_with_parentheses": numbered(")"),
    "all_bullets_number_one": bullets("1."),
    "windows_line_ends": lambda text: text.replace("\n", "\r\n"),
    "old_macintosh_line_ends": lambda text: text.replace("\n", "\r"),
    "byte_order_mark": lambda text: "\ufeff" + text,
    "no_break_spaces": body(lambda text: text.replace(" ", "\xa0")),
    "some_no_break_spaces": body(lambda text: re.sub(r"(?<=\w) (?=\d)", "\xa0", text)),
    "no_break_entities": outside_front(r"(?<=\w) (?=\d)", "&nbsp;"),
    "tabs": body(
        by_line(lambda line: re.sub(r"^(?:  )+", lambda m: "\t" * (len(m[0]) // 2), line))
    ),
    "tabs_behind_markers": outside_front(r"(?m)^( *)- ", "\\1-\t"),
    "four_spaces": outside_front(r"(?m)^  - ", "    - "),
    "everything_indented_by_one": body(by_line(lambda line: " " + line if line else line)),
    "trailing_spaces": body(by_line(lambda line: line + "  ")),
    "two_spaces_between_words": outside_front(r"(?<=\w) (?=\w)", "  "),
    "smart_quotes": lambda text: re.sub(
        r"'", "’", re.sub(r'"', "”", re.sub(r'(?<!\w)"', "“", text))
    ),
    "smart_dashes": lambda text: text.replace("---", "—").replace("--", "–"),
    "smart_ellipses": body(lambda text: text.replace("...", "…")),
    "no_final_newline": lambda text: text.rstrip("\n"),
    "many_final_newlines": lambda text: text + "\n\n\n",
    "doubled_escapes": body(lambda text: text.replace("\\", "\\\\")),
    "all_underscores_escaped": outside_front(r"(?<!\\)_(?![^\n<]*>)(?![^`\n]*`)", r"\\_"),
    "entities": outside_front(
        r"(?<!\\)(&(?=\w+;)|\\?<(?!https?:|!--))", lambda m: "&amp;" if m[0] == "&" else "&lt;"
    ),
    "blank_lines_between_all_lines": body(lambda text: text.replace("\n", "\n\n")),
    "no_blank_lines": body(lambda text: re.sub(r"\n+", "\n", text)),
    "headings_one_level_down": outside_front(r"(?m)^#", "##"),
    "headings_one_level_up": outside_front(r"(?m)^##", "#"),
    "closed_headings": outside_front(r"(?m)^(#+) (.*)$", r"\1 \2 \1"),
    "underlined_headings": outside_front(
        r"(?m)^(##?) (.*)$", lambda m: f"{m[2]}\n{'=' * 9 if m[1] == '#' else '-' * 9}"
    ),
    "heading_attributes": outside_front(r"(?m)^(#+) (\w+)$", r"\1 \2 {#\2}"),
    "bold_headings": outside_front(r"(?m)^## (.*)$", r"## **\1**"),
    "capital_headings": outside_front(r"(?m)^## (?!Ideas).*$", lambda m: m[0].upper()),
    "ids_bold_by_underscores": outside_front(r"(?m)^(- (?:\[.\] )?)\*\*(\w+)\*\*", r"\1__\2__"),
    "ids_with_escaped_bold": outside_front(
        r"(?m)^(- (?:\[.\] )?)\*\*(\w+)\*\*", r"\1\\*\\*\2\\*\\*"
    ),
    "ids_not_bold": outside_front(r"(?m)^(- (?:\[.\] )?)\*\*(\w+)\*\*", r"\1\2"),
    "ids_with_colons": outside_front(
        r"(?m)^(- (?:\[.\] )?)\*\*(\w+)\*\*(?! in a| fen)", r"\1**\2:**"
    ),
    "lost_ids": outside_front(r"(?m)^(- (?:\[.\] )?)\*\*(\w+)\*\* (?=\S)(?!in a|fen)", r"\1"),
    "escaped_boxes": outside_front(r"(?m)^- \[(.)\] \*\*", r"- \\[\1\\] **"),
    "half_escaped_boxes": outside_front(r"(?m)^- \[(.)\] \*\*", r"- \\[\1] **"),
    "capital_boxes": outside_front(r"(?m)^- \[x\] \*\*", "- [X] **"),
    "lost_boxes": outside_front(r"(?m)^- \[.\] \*\*", "- **"),
    "capital_field_names": outside_front(
        r"(?m)^  - (\w)(\w*: )", lambda m: f"  - {m[1].upper()}{m[2]}"
    ),
    "bold_field_names": outside_front(r"(?m)^  - (\w+): ", r"  - **\1:** "),
    "fields_in_another_order": body(
        lambda text: re.sub(
            r"(?:(?m:^)  - .*\n)+", lambda m: "".join(reversed(m[0].splitlines(True))), text
        )
    ),
    "engine_fields_left_out": outside_front(r"(?m)^  - (?:by|from|added|step): .*\n", ""),
    "boxes_only": outside_front(r"(?m)^  - status: (?:todo|done)\n", ""),
    "wrapped": wrapped(60, indent=True),
    "wrapped_without_indentation": wrapped(60, indent=False),
    "wrapped_with_blank_lines": lambda text: wrapped(60, indent=True)(text).replace("\n", "\n\n"),
    "hard_line_breaks": lambda text: re.sub(
        r"(?<=\w)\n(?=      ?\w)", "\\\\\n", wrapped(60, indent=True)(text)
    ),
    "bare_urls": outside_front(r"<(https?:[^<>\s]*)>", r"\1"),
    "urls_as_links": outside_front(r"<(https?:[^<>\s]*)>", r"[\1](\1)"),
    "urls_as_links_in_brackets": outside_front(r"<(https?:[^<>\s]*)>", r"[\1](<\1>)"),
    "percent_encoded_urls": outside_front(
        r"<https?:[^<>\s]*>", lambda m: m[0].replace("(", "%28").replace(")", "%29")
    ),
    "decomposed_characters": lambda text: unicodedata.normalize("NFD", text),
    "lost_front_matter": lambda text: text.partition("\n---\n\n")[2],
    "lost_comment": outside_front(r"(?m)^<!-- throughLine ledger.*?-->\n\n", ""),
    "lost_front_matter_and_comment": lambda text: text[text.index("\n# ") :],
    "lost_last_line_s_version": outside_front(r"Ledger version `\S*` ·(?=.*\n\Z)", "Ledger ·"),
    "front_matter_as_paragraph": lambda text: re.sub(
        r"\A---\n(.*?)\n---\n",
        lambda m: f"* * *\n\n{' '.join(m[1].split())}\n\n* * *\n",
        text,
        flags=re.DOTALL,
    ),
    "front_matter_as_heading": lambda text: re.sub(
        r"\A---\n(.*?)\n---\n",
        lambda m: f"---\n\n## {' '.join(m[1].split())}\n",
        text,
        flags=re.DOTALL,
    ),
    "front_matter_as_underlined_heading": lambda text: re.sub(
        r"\A---\n(.*?)\n---\n", lambda m: f"***\n\n{m[1]}\n----------\n", text, flags=re.DOTALL
    ),
    "front_matter_with_sorted_keys": lambda text: re.sub(
        r"\A---\n(.*?)\n---\n",
        lambda m: "---\n" + "\n".join(sorted(m[1].split("\n"))) + "\n---\n",
        text,
        flags=re.DOTALL,
    ),
    "front_matter_in_quotes": lambda text: re.sub(
        r"(?m)\A(?:.*\n)+?---\n",
        lambda m: re.sub(r'(?m)^(\w+): ([^"\n]+)$', r"\1: '\2'", m[0]),
        text,
    ),
    "comment_as_code": outside_front(r"(?m)^(<!-- throughLine.*?-->)", "```{=html}\n\\1\n```"),
    "comment_escaped": outside_front(r"(?m)^<(!-- throughLine.*?--)>", r"\\<\1\\>"),
    "comment_as_entities": outside_front(r"(?m)^<(!-- throughLine.*?--)>", r"&lt;\1&gt;"),
    "last_line_joined": lambda text: re.sub(r"\n+(?=Ledger version.*\n\Z)", " ", text),
    "last_line_escaped": outside_front(
        r"Ledger version `(\S*)` ·(?=.*\n\Z)", r"Ledger version \\`\1\\` ·"
    ),
}
