/** Figures over time, for charts and rates: the latest samples of one entity. */

export const SAMPLES_MAX = 600;

/** @typedef {{at: number, values: Record<string, number>}} Sample */

/** Samples of the numbers of one entity. */
export class History {
    /** @param {number} [most] */
    constructor(most = SAMPLES_MAX) {
        this.most = most;
        /** @type {Sample[]} */
        this.samples = [];
    }

    /**
     * Keep the numbers of a row.
     * @param {number} at milliseconds
     * @param {Record<string, unknown>} row
     */
    add(at, row) {
        /** @type {Record<string, number>} */
        const values = {};
        for (const [name, value] of Object.entries(row)) {
            if (typeof value === 'number') values[name] = value;
        }
        this.samples.push({ at, values });
        if (this.samples.length > this.most) this.samples.splice(0, this.samples.length - this.most);
    }

    /**
     * How fast a counter has grown lately, in 1/s; undefined before there are two samples.
     * @param {string} name
     * @param {number} [windowMs]
     */
    rate(name, windowMs = 6000) {
        const last = this.samples.at(-1);
        if (!last) return undefined;
        let first;
        for (let index = this.samples.length - 2; index >= 0; index--) {
            const sample = this.samples[index];
            if (first && last.at - sample.at > windowMs) break;
            // A counter that is smaller than it was belongs to a router that has started again.
            if (sample.values[name] > (first ?? last).values[name]) break;
            first = sample;
        }
        if (!first || last.values[name] === undefined || first.values[name] === undefined) return undefined;
        return (1000 * (last.values[name] - first.values[name])) / (last.at - first.at);
    }

    /**
     * How much a counter has grown in the time that is kept, or since a time.
     * @param {string} name
     * @param {number} [since]
     */
    growth(name, since = 0) {
        let grown = 0;
        for (let index = 1; index < this.samples.length; index++) {
            const step = this.samples[index].values[name] - this.samples[index - 1].values[name];
            if (this.samples[index].at >= since && step > 0) grown += step;
        }
        return grown;
    }

    /**
     * A series for a chart: times in seconds, and values or rates. Gaps are null.
     * @param {string} name
     * @param {boolean} asRate
     * @returns {[number[], (number | null)[]]}
     */
    series(name, asRate) {
        /** @type {number[]} */
        const times = [];
        /** @type {(number | null)[]} */
        const values = [];
        for (let index = asRate ? 1 : 0; index < this.samples.length; index++) {
            const sample = this.samples[index];
            const value = sample.values[name];
            times.push(sample.at / 1000);
            if (!asRate) {
                values.push(value ?? null);
                continue;
            }
            const before = this.samples[index - 1];
            const grown = value - before.values[name];
            values.push(grown >= 0 ? (1000 * grown) / (sample.at - before.at) : null);
        }
        return [times, values];
    }
}
