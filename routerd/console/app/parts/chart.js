/** A chart over time, by uPlot; colours come from the style sheet. */

import { html, useEffect, useRef } from '../html.js';
import { clock, short } from '../format.js';
import { useSize } from './use.js';

/** @typedef {{label: string, times: number[], values: (number | null)[]}} Series */

const COLOURS = 6;
/** The time that a chart has at least, so that the first samples don't fill it. */
const LEAST_S = 60;
/** The steps of an axis of time. */
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400];

/** @param {string} name */
function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/**
 * Times at an axis, with seconds where these tell them apart.
 * @param {unknown} _
 * @param {number[]} ticks
 */
function times(_, ticks) {
    const hasSeconds = ticks.some((one) => one % 60 !== 0);
    return ticks.map((one) => (hasSeconds ? clock(1000 * one) : clock(1000 * one).slice(0, 5)));
}

/**
 * Series on one axis of time.
 * @param {Series[]} series
 */
export function joined(series) {
    const times = [...new Set(series.flatMap((one) => one.times))].sort((a, b) => a - b);
    return [times, ...series.map((one) => {
        const byTime = new Map(one.times.map((time, at) => [time, one.values[at]]));
        // What was sampled at another time is no gap in this line.
        return times.map((time) => (byTime.has(time) ? byTime.get(time) : undefined));
    })];
}

/**
 * @param {{series: Series[], height?: number, label: string, format?: (value: number | null | undefined) => string, hasLegend?: boolean}} props
 */
export function Chart({ series, height = 220, label, format = short, hasLegend = true }) {
    const [box, { width }] = useSize();
    const plot = useRef(/** @type {any} */ (null));
    const shape = `${series.map((one) => one.label).join('\n')}|${document.documentElement.dataset.theme ?? ''}|${height}`;
    useEffect(() => {
        if (!box.current || !width) return undefined;
        const uPlot = /** @type {any} */ (globalThis).uPlot;
        const line = colour('--line');
        const font = `11px ${colour('--font')}`;
        const axis = { stroke: colour('--muted'), font, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 } };
        const chart = new uPlot({
            width, height,
            legend: { show: false },
            cursor: { points: { size: 6 }, drag: { x: false, y: false } },
            scales: { x: { time: true, range: (/** @type {any} */ _, /** @type {number} */ from, /** @type {number} */ to) => [Math.min(from, to - LEAST_S), to] }, y: { range: (/** @type {any} */ _, /** @type {number} */ low, /** @type {number} */ high) => [Math.min(0, low ?? 0), (high || 1) * 1.08] } },
            axes: [{ ...axis, space: 70, size: 30, incrs: STEPS_S, values: times }, { ...axis, size: 58, values: (/** @type {any} */ _, /** @type {number[]} */ ticks) => ticks.map((one) => format(one)) }],
            series: [{}, ...series.map((one, at) => ({
                label: one.label, stroke: colour(`--series-${(at % COLOURS) + 1}`), width: 1.6, spanGaps: false, points: { show: false },
                fill: series.length === 1 ? colour('--series-fill') : undefined,
            }))],
        }, joined(series), box.current);
        plot.current = chart;
        return () => {
            chart.destroy();
            plot.current = null;
        };
    }, [shape, width > 0]);
    useEffect(() => plot.current?.setData(joined(series)), [series]);
    useEffect(() => {
        if (plot.current && width) plot.current.setSize({ width, height });
    }, [width, height]);
    const last = series.map((one) => `${one.label} ${format(one.values.at(-1))}`).join(', ');
    return html`<figure class="chart">
        <div class="chart-box" ref=${box} role="img" aria-label=${`${label}: ${last || 'no values yet'}`}></div>
        ${hasLegend && html`<figcaption>${series.map((one, at) => html`<span class="legend">
            <span class=${`swatch series-${(at % COLOURS) + 1}`} aria-hidden="true"></span>${one.label} <b>${format(one.values.at(-1))}</b></span>`)}</figcaption>`}
    </figure>`;
}
