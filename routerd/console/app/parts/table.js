/** A table for long lists: only the rows in sight are drawn. Columns sort, and give way on narrow screens. */

import { html, useMemo, useState } from '../html.js';
import { useSize } from './use.js';

const ROW_PX = 32;
const AROUND = 14;
/** Shorter lists are drawn as a whole. */
const WHOLE = 150;
/** What the first column has at least. */
const FIRST_PX = 210;
const FIRST_NARROW_PX = 130;

/** @typedef {import('../management.js').Row} Row */
/**
 * @typedef {object} Column
 * @property {string} key names the column in sorting, and the attribute where there is no `value`
 * @property {string} title
 * @property {number} [width] in px; one column without takes what is left
 * @property {boolean} [isNumber]
 * @property {(row: Row) => any} [value] what is sorted by
 * @property {(row: Row) => any} [cell] what is shown
 * @property {'narrow' | 'medium' | 'wide'} [from] which columns give way first where there is no room: the wide ones, then the medium ones
 * @property {string} [about]
 */

/**
 * The columns that have room, beside the first one.
 * @param {Column[]} columns
 * @param {number} width
 */
export function fitting(columns, width) {
    const first = width < 480 ? FIRST_NARROW_PX : FIRST_PX;
    let kept = columns;
    const isTooWide = () => kept.reduce((total, one, at) => total + (one.width ?? (at ? 0 : first)), 0) > width;
    for (const level of ['wide', 'medium', 'narrow']) {
        for (let at = columns.length - 1; at > 0 && isTooWide(); at--) {
            if (columns[at].from === level) kept = kept.filter((one) => one !== columns[at]);
        }
    }
    return kept;
}

/**
 * @param {Row[]} rows
 * @param {Column[]} columns
 * @param {string} sort a key; with `-` before it the largest first
 */
export function sorted(rows, columns, sort) {
    const isDown = sort.startsWith('-');
    const column = columns.find((one) => one.key === sort.replace(/^-/, ''));
    if (!column) return rows;
    const value = column.value ?? ((row) => row[column.key]);
    const keyed = rows.map((row) => /** @type {[any, Row]} */ ([value(row), row]));
    const order = new Intl.Collator('en', { numeric: true }).compare;
    keyed.sort(([a], [b]) => {
        const isA = a === null || a === undefined || a === '';
        const isB = b === null || b === undefined || b === '';
        if (isA || isB) return isA && isB ? 0 : isA ? 1 : -1;
        const difference = typeof a === 'number' && typeof b === 'number' ? a - b : order(String(a), String(b));
        return isDown ? -difference : difference;
    });
    return keyed.map(([, row]) => row);
}

/**
 * @param {object} props
 * @param {string} props.label
 * @param {Column[]} props.columns
 * @param {Row[]} props.rows
 * @param {(row: Row) => string} props.rowKey
 * @param {(row: Row) => string | undefined} [props.href] where a row leads; the first column is a link
 * @param {string} [props.sort]
 * @param {(sort: string) => void} [props.onSort]
 * @param {string} [props.selected] the key of the row that is shown beside
 * @param {boolean} [props.isTall] whether the table takes the height that is left
 */
export function Table({ label, columns: all, rows, rowKey, href, sort = '', onSort, selected, isTall = true }) {
    const [scroller, { width }] = useSize();
    const columns = useMemo(() => fitting(all, width || innerWidth), [all, width]);
    const [top, setTop] = useState(0);
    const ordered = useMemo(() => sorted(rows, all, sort), [rows, all, sort]);
    const isWhole = ordered.length <= WHOLE;
    const inSight = isWhole ? ordered.length : Math.ceil((scroller.current?.clientHeight ?? 900) / ROW_PX) + 2 * AROUND;
    const first = isWhole ? 0 : Math.max(0, Math.min(Math.floor(top / ROW_PX) - AROUND, ordered.length - inSight));
    const shown = ordered.slice(first, first + inSight);
    const least = columns.reduce((total, one) => total + (one.width ?? FIRST_NARROW_PX), 0);
    const onScroll = (/** @type {any} */ event) => {
        const at = event.currentTarget.scrollTop;
        if (!isWhole && Math.abs(at - top) > (ROW_PX * AROUND) / 2) setTop(at);
    };
    return html`<div class=${`table-box ${isTall ? 'tall' : ''}`} ref=${scroller} onScroll=${onScroll} tabindex="0" role="region" aria-label=${label}>
        <table aria-rowcount=${ordered.length + 1} style=${{ minWidth: `${least}px` }}>
            <colgroup>${columns.map((one) => html`<col style=${one.width ? { width: `${one.width}px` } : {}} />`)}</colgroup>
            <thead><tr aria-rowindex="1">${columns.map((one) => html`<${HeadCell} column=${one} sort=${sort} onSort=${onSort} />`)}</tr></thead>
            <tbody>
                ${first > 0 && html`<tr class="spacer" aria-hidden="true"><td colspan=${columns.length} style=${{ height: `${first * ROW_PX}px` }}></td></tr>`}
                ${shown.map((row, at) => html`<${BodyRow} key=${rowKey(row)} row=${row} columns=${columns} index=${first + at + 2}
                    href=${href?.(row)} isSelected=${selected !== undefined && selected === rowKey(row)} />`)}
                ${first + shown.length < ordered.length && html`<tr class="spacer" aria-hidden="true">
                    <td colspan=${columns.length} style=${{ height: `${(ordered.length - first - shown.length) * ROW_PX}px` }}></td></tr>`}
            </tbody>
        </table>
    </div>`;
}

/** @param {{column: Column, sort: string, onSort?: (sort: string) => void}} props */
function HeadCell({ column, sort, onSort }) {
    const isSorted = sort.replace(/^-/, '') === column.key;
    const isDown = sort.startsWith('-');
    const toggle = () => onSort?.(isSorted ? (isDown === Boolean(column.isNumber) ? (isDown ? column.key : `-${column.key}`) : '') : column.isNumber ? `-${column.key}` : column.key);
    return html`<th scope="col" class=${column.isNumber ? 'number' : ''} aria-sort=${isSorted ? (isDown ? 'descending' : 'ascending') : undefined} title=${column.about}>
        ${onSort ? html`<button type="button" onClick=${toggle}>${column.title}<span class="arrow" aria-hidden="true">${isSorted ? (isDown ? '↓' : '↑') : ''}</span></button>` : column.title}
    </th>`;
}

/** @param {{row: Row, columns: Column[], index: number, href?: string, isSelected: boolean}} props */
function BodyRow({ row, columns, index, href, isSelected }) {
    const open = (/** @type {any} */ event) => {
        if (href && !event.target.closest('a, button, input, select') && !String(getSelection())) location.hash = href;
    };
    return html`<tr aria-rowindex=${index} class=${`${href ? 'leads' : ''} ${isSelected ? 'selected' : ''}`} aria-current=${isSelected ? 'true' : undefined} onClick=${open}>
        ${columns.map((one, at) => {
            const cell = one.cell ? one.cell(row) : (one.value ? one.value(row) : row[one.key]) ?? '–';
            const shown = at === 0 && href ? html`<a href=${href}>${cell}</a>` : cell;
            return html`<td class=${one.isNumber ? 'number' : ''} title=${typeof cell === 'string' && cell.length > 18 ? cell : undefined}>${shown}</td>`;
        })}
    </tr>`;
}
