/** Places for the nodes of a drawing: those that are joined attract each other, all others keep their distance. */

const STEPS = 260;
const SPRING = 0.06;
const GRAVITY = 0.006;
const PUSH = 1300;

/** @typedef {{id: string, weight: number, x?: number, y?: number}} LayoutNode */
/** @typedef {{a: string, b: string, length: number}} LayoutEdge */

/**
 * Place nodes. The same graph is always placed alike; nodes that have a place keep close to it.
 * @param {LayoutNode[]} nodes
 * @param {LayoutEdge[]} edges
 * @param {Map<string, {x: number, y: number}>} [before]
 * @returns {Map<string, {x: number, y: number}>}
 */
export function place(nodes, edges, before = new Map()) {
    const index = new Map(nodes.map((node, at) => [node.id, at]));
    const size = nodes.length;
    const x = new Float64Array(size);
    const y = new Float64Array(size);
    const beside = neighbours(edges, index);
    const rings = around(nodes, edges, index);
    nodes.forEach((node, at) => {
        const known = before.get(node.id) ?? before.get(beside.get(at) ?? '');
        const angle = (2 * Math.PI * at) / size;
        x[at] = known ? known.x + 12 * Math.cos(angle) : rings[at].x;
        y[at] = known ? known.y + 12 * Math.sin(angle) : rings[at].y;
    });
    const springs = edges
        .map((edge) => [index.get(edge.a), index.get(edge.b), edge.length])
        .filter((one) => one[0] !== undefined && one[1] !== undefined);
    const isKnown = nodes.every((node) => before.has(node.id));
    const steps = isKnown ? 40 : STEPS;
    for (let step = 0; step < steps; step++) {
        const heat = isKnown ? 4 : 30 * (1 - step / steps) + 0.5;
        move(nodes, x, y, /** @type {number[][]} */ (springs), heat);
    }
    return new Map(nodes.map((node, at) => [node.id, { x: x[at], y: y[at] }]));
}

/**
 * Places to begin with: the node with most neighbours in the middle, those next to it around it, and so on, each with
 * a part of the ring as wide as what is behind it.
 * @param {LayoutNode[]} nodes
 * @param {LayoutEdge[]} edges
 * @param {Map<string, number>} index
 */
function around(nodes, edges, index) {
    /** @type {number[][]} */
    const joined = nodes.map(() => []);
    for (const { a, b } of edges) {
        const [one, other] = [index.get(a), index.get(b)];
        if (one === undefined || other === undefined) continue;
        joined[one].push(other);
        joined[other].push(one);
    }
    const places = nodes.map(() => ({ x: 0, y: 0 }));
    const depth = new Array(nodes.length).fill(-1);
    const parent = new Array(nodes.length).fill(-1);
    const behind = new Array(nodes.length).fill(1);
    const starts = nodes.map((_, at) => at).sort((a, b) => joined[b].length - joined[a].length);
    /** @type {number[]} */
    const order = [];
    let parts = 0;
    for (const start of starts) {
        if (depth[start] >= 0) continue;
        // Parts that are not joined begin beside each other.
        depth[start] = parts++ ? 2 : 0;
        order.push(start);
        for (let at = order.length - 1; at < order.length; at++) {
            for (const next of joined[order[at]]) {
                if (depth[next] >= 0) continue;
                depth[next] = depth[order[at]] + 1;
                parent[next] = order[at];
                order.push(next);
            }
        }
    }
    for (const at of order.toReversed()) if (parent[at] >= 0) behind[parent[at]] += behind[at];
    const from = new Array(nodes.length).fill(0);
    const roots = order.filter((at) => parent[at] < 0);
    let turn = 0;
    for (const root of roots) {
        from[root] = turn;
        turn += behind[root] / nodes.length;
    }
    for (const at of order) {
        let begin = from[at];
        for (const child of joined[at]) {
            if (parent[child] !== at || depth[child] !== depth[at] + 1) continue;
            from[child] = begin;
            begin += behind[child] / nodes.length;
        }
        const angle = 2 * Math.PI * (from[at] + behind[at] / nodes.length / 2);
        places[at] = { x: 130 * depth[at] * Math.cos(angle), y: 90 * depth[at] * Math.sin(angle) };
    }
    return places;
}

/**
 * The node that each is first joined to, to begin near to it.
 * @param {LayoutEdge[]} edges
 * @param {Map<string, number>} index
 */
function neighbours(edges, index) {
    /** @type {Map<number, string>} */
    const found = new Map();
    for (const { a, b } of edges) {
        const [left, right] = [index.get(a), index.get(b)];
        if (left !== undefined && !found.has(left)) found.set(left, b);
        if (right !== undefined && !found.has(right)) found.set(right, a);
    }
    return found;
}

/**
 * @param {LayoutNode[]} nodes
 * @param {Float64Array} x
 * @param {Float64Array} y
 * @param {number[][]} springs
 * @param {number} heat how far a node moves at most
 */
function move(nodes, x, y, springs, heat) {
    const size = nodes.length;
    const forceX = new Float64Array(size);
    const forceY = new Float64Array(size);
    for (let one = 0; one < size; one++) {
        for (let other = one + 1; other < size; other++) {
            const dx = x[one] - x[other] || 0.1 * (one - other);
            const dy = y[one] - y[other] || 0.1;
            const push = (PUSH * nodes[one].weight * nodes[other].weight) / (dx * dx + dy * dy + 1);
            forceX[one] += dx * push;
            forceY[one] += dy * push;
            forceX[other] -= dx * push;
            forceY[other] -= dy * push;
        }
        forceX[one] -= x[one] * GRAVITY * 10;
        forceY[one] -= y[one] * GRAVITY * 22;
    }
    for (const [one, other, length] of springs) {
        const dx = x[other] - x[one];
        const dy = y[other] - y[one];
        const distance = Math.hypot(dx, dy) || 1;
        const pull = (SPRING * 10 * (distance - length)) / distance;
        forceX[one] += dx * pull;
        forceY[one] += dy * pull;
        forceX[other] -= dx * pull;
        forceY[other] -= dy * pull;
    }
    for (let at = 0; at < size; at++) {
        const force = Math.hypot(forceX[at], forceY[at]) || 1;
        const step = Math.min(heat, force * 0.25) / force;
        x[at] += forceX[at] * step;
        y[at] += forceY[at] * step;
    }
}
