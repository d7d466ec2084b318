// Small hands for the page. Text goes in as text nodes only, so a name can never become markup.
const $ = id => document.getElementById(id);
const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) node.append(child);
  return node;
}
const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

const known = value => value !== null && value !== undefined && !Number.isNaN(value);
const percent = (value, digits = 1) => known(value) ? `${(100 * value).toFixed(digits)}%` : '–';
const whole = value => known(value) ? value.toLocaleString('en') : '–';
const figure = (value, digits = 3) => {
  if (!known(value)) return '–';
  if (value === 0) return '0';
  return Math.abs(value) < 1e-3 ? value.toExponential(1) : Number(value.toPrecision(digits)).toString();
};
const stageName = stage => stage.stage === 0 ? 'teacher' : `stage ${stage.stage}`;
const className = k => k < 0 ? 'not known' : D.classes[k];
const colourOf = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// columns: [title, 'number' | 'name' | ''] ; rows: arrays of text or nodes, or {now, cells}
function table(columns, rows, caption) {
  const cell = (content, at) => el('td', {class: columns[at][1] || null}, content);
  const line = row => el('tr', {class: row.now ? 'now' : null, 'aria-current': row.now ? 'true' : null}, (row.cells || row).map(cell));
  const head = columns.map(([title, kind]) => el('th', {scope: 'col', class: kind === 'number' ? 'number' : null}, title));
  return el('table', null, caption ? el('caption', {class: 'unseen'}, caption) : null, el('thead', null, el('tr', null, head)), el('tbody', null, rows.map(line)));
}

// the class, with a mark where the truth is known
function marked(said, right) {
  if (right < 0) return className(said);
  const mark = said === right ? el('span', {class: 'good', title: 'right'}, '✓\u00a0') : el('span', {class: 'bad', title: 'wrong'}, '✗\u00a0');
  return [mark, className(said)];
}

function say(words) { $('say').textContent = words; }

// Calls draw(host, width) now and whenever the width has changed.
function chart(host, draw) {
  const made = {host, width: 0, again() { this.width = Math.floor(host.clientWidth); if (this.width) host.replaceChildren(...[draw(this.width)].flat().filter(Boolean)); }};
  new ResizeObserver(() => { if (Math.abs(host.clientWidth - made.width) > 1) made.again(); }).observe(host);
  return () => made.again();
}

const csvCell = value => /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
function download(name, rows) {
  const text = rows.map(row => row.map(csvCell).join(',')).join('\n') + '\n';
  const url = URL.createObjectURL(new Blob([text], {type: 'text/csv;charset=utf-8'}));
  const link = el('a', {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const tip = $('tip');
function showTip(x, y, ...content) {
  tip.replaceChildren(...content.flat().filter(Boolean));
  tip.hidden = false;
  const box = tip.getBoundingClientRect(), wide = document.documentElement.clientWidth;
  tip.style.left = `${Math.max(4, x + 14 + box.width > wide ? x - box.width - 10 : x + 14)}px`;
  tip.style.top = `${Math.max(4, y + 14 + box.height > window.innerHeight ? y - box.height - 10 : y + 14)}px`;
}
function hideTip() { tip.hidden = true; }
