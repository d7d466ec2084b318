// Downloads of tables as CSV.
import { el } from './elements.js';

const isNumber = (text) => /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text);

// An apostrophe keeps a spreadsheet from taking a text for a formula, as in drgst.files.inert_cell.
const inert = (text) => /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;

const csvCell = (value) => {
  const text = typeof value === 'string' && !isNumber(value) ? inert(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export function downloadCsv(fileName, rows) {
  const text = rows.map((row) => row.map(csvCell).join(',')).join('\n') + '\n';
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = el('a', { href: url, download: fileName });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
