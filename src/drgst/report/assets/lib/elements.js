// Elements of the page. Text is inserted as text nodes only, so a name can never become markup.
const SHORT = 16; // letters of a name that is not broken
const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';

/** @type {(id: string) => any} whatever kind of element the id names */
export const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(key, value === true ? '' : value);
    }
  }
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) node.append(child);
  return node;
}

export const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);

export const svg = (name, attributes, ...children) =>
  fill(document.createElementNS(SVG_NAMESPACE, name), attributes, children);

export const svgLine = (x1, y1, x2, y2, attributes) => svg('line', { x1, y1, x2, y2, ...attributes });

// Long text that may break after a separator, as long names do not have spaces.
export const breakable = (text) =>
  text.length <= SHORT ? text : text.split(/(?<=[_./-])/).flatMap((part) => [part, el('wbr')]).slice(0, -1);

export const emptyText = (text) => el('p', { class: 'empty' }, text);

export const hint = (text) => el('p', { class: 'hint' }, text);

export const button = (text, onclick, attributes) => el('button', { type: 'button', onclick, ...attributes }, text);

// Columns are {title, kind, cell, show}: kind is a CSS class such as 'number' or 'name', cell(record, index) gives text
// or nodes, and a column with show === false is left out. current(record) marks a row.
export function table(columns, records, caption, current = (_record) => false) {
  const shown = columns.filter((column) => column.show !== false);
  const head = shown.map(({ title, kind }) => el('th', { scope: 'col', class: kind || null }, title));
  const row = (record, index) => {
    const attributes = current(record) ? { class: 'current', 'aria-current': 'true' } : null;
    return el('tr', attributes, shown.map(({ kind, cell }) => el('td', { class: kind || null }, cell(record, index))));
  };
  return el(
    'table',
    null,
    el('caption', { class: 'visually-hidden' }, caption),
    shown.some((column) => column.title) ? el('thead', null, el('tr', null, head)) : null,
    el('tbody', null, records.map(row)),
  );
}

// Calls draw(width) and shows what it returns; again whenever the width has changed. Returns a function that redraws.
export function responsive(host, draw) {
  let width = 0;
  const redraw = () => {
    width = Math.floor(host.clientWidth);
    if (width) host.replaceChildren(...[draw(width)].flat().filter(Boolean));
  };
  new ResizeObserver(() => {
    if (Math.abs(host.clientWidth - width) > 1) redraw();
  }).observe(host);
  return redraw;
}

// Text for screen readers.
export function announce(text) {
  byId('announcement').textContent = text;
}
