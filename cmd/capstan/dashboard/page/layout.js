// Where the states of a machine and its moves lie. A table never changes while the page is open, so each is laid out once.
import dagre from "./lib/dagre.js";

const height = 34, perLetter = 7.7, around = 30;

/** Pairs are the moves between the same two states, drawn as one line. */
export function pairs(table) {
  const found = new Map();
  for (const move of table.moves) {
    const key = move.from + ">" + move.to;
    if (!found.has(key)) found.set(key, { key, from: move.from, to: move.to, moves: [] });
    found.get(key).moves.push(move);
  }
  return [...found.values()].filter((line) => line.from !== line.to);
}

/** Layout places the states and the lines of a table. */
export function layout(table) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 34, ranksep: 44, edgesep: 16, marginx: 12, marginy: 12 });
  for (const state of table.states) graph.setNode(state.name, { width: state.name.length * perLetter + around, height });
  const lines = pairs(table);
  for (const line of lines) graph.setEdge(line.from, line.to, { width: 18, height: 18, labelpos: "c" }, line.key);
  dagre.layout(graph);
  const { width, height: tall } = graph.graph();
  return {
    width: Math.ceil(width), height: Math.ceil(tall),
    nodes: table.states.map((state) => ({ state, ...graph.node(state.name) })),
    lines: lines.map((line) => {
      const edge = graph.edge({ v: line.from, w: line.to, name: line.key });
      return { ...line, path: curve(edge.points), label: middle(edge.points) };
    }),
  };
}

const at = ({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`;
const between = (a, b, part = 0.5) => ({ x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part });

/** Curve is a smooth line along points: a quadratic one around each, from the middle to the middle. */
export function curve(points) {
  let path = "M" + at(points[0]);
  for (let i = 1; i < points.length - 1; i++) {
    path += `Q${at(points[i])} ${at(i + 2 === points.length ? points[i + 1] : between(points[i], points[i + 1]))}`;
  }
  return points.length === 2 ? path + "L" + at(points[1]) : path;
}

/** Middle is where a curve is at the middle one of its points. */
function middle(points) {
  const i = points.length >> 1;
  if (points.length < 3) return between(points[0], points[1]);
  const before = i === 1 ? points[0] : between(points[i - 1], points[i]);
  const after = i + 2 === points.length ? points[i + 1] : between(points[i], points[i + 1]);
  return between(between(before, points[i]), between(points[i], after));
}

/** Beside is the state that lies next in a direction of the arrow keys, or the same one. */
export function beside(nodes, name, key) {
  const here = nodes.find((node) => node.state.name === name);
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  let best = here, least = Infinity;
  for (const node of nodes) {
    const along = (node.x - here.x) * dx + (node.y - here.y) * dy;
    const across = Math.abs((node.x - here.x) * dy) + Math.abs((node.y - here.y) * dx);
    if (along > 1 && along + 2 * across < least) [best, least] = [node, along + 2 * across];
  }
  return best.state.name;
}
