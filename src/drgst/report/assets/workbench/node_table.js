// A table of all nodes of which only the rows in view exist.
import { breakable, el } from '../lib/elements.js';
import { change, state } from './state.js';

const ROW = 30; // pixels
const SPARE = 8; // rows above and below the view

export class NodeTable {
  constructor() {
    this.body = el('tbody');
    this.head = el('thead');
    this.element = el('div', { class: 'node-table', tabindex: 0, role: 'region', 'aria-label': 'Nodes' });
    this.table = el('table', null, this.head, this.body);
    this.element.append(this.table);
    this.element.addEventListener('scroll', () => this.drawRows());
    new ResizeObserver(() => this.drawRows()).observe(this.element);
    this.columns = [];
    this.nodes = [];
  }

  // columns: [{key, title, kind, text(node), link}]; sort: {key, down}; onsort(key)
  show(columns, nodes, sort, onsort) {
    this.columns = columns;
    this.nodes = nodes;
    const cell = ({ key, title, kind }) => {
      const sorted = sort.key === key;
      const order = sorted ? (sort.down ? 'descending' : 'ascending') : 'none';
      const mark = sorted ? (sort.down ? ' ▾' : ' ▴') : '';
      const click = el('button', { type: 'button', class: 'sort', onclick: () => onsort(key) }, breakable(title), mark);
      return el('th', { scope: 'col', class: kind || null, 'aria-sort': order }, click);
    };
    this.head.replaceChildren(el('tr', null, columns.map(cell)));
    this.table.setAttribute('aria-rowcount', String(nodes.length + 1));
    this.drawRows();
  }

  drawRows() {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.min(Math.floor(scrollTop / ROW) - SPARE, this.nodes.length - 1));
    const last = Math.min(this.nodes.length, Math.ceil((scrollTop + clientHeight) / ROW) + SPARE);
    const space = (rows) => {
      const row = el('tr', { class: 'space', 'aria-hidden': 'true' }, el('td', { colspan: this.columns.length || 1 }));
      row.style.height = `${rows * ROW}px`;
      return row;
    };
    const rows = this.nodes.slice(first, last).map((node, place) => this.row(node, first + place));
    this.body.replaceChildren(space(first), ...rows, space(this.nodes.length - last));
  }

  row(node, place) {
    const cell = ({ kind, text, link }) => {
      const words = text(node);
      const inside = link
        ? el('button', { type: 'button', class: 'link', onclick: () => change({ view: 'map', node }) }, words)
        : words;
      return el('td', { class: kind || null, title: words }, el('div', { class: 'cut' }, inside));
    };
    const attributes = { 'aria-rowindex': place + 2, class: node === state.node ? 'current' : null };
    return el('tr', attributes, this.columns.map(cell));
  }
}
