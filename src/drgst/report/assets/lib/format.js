// Numbers as text. An unknown value is shown as a dash.
export const isKnown = (value) => value !== null && value !== undefined && !Number.isNaN(value);

export const percent = (value, digits = 1) => isKnown(value) ? `${(100 * value).toFixed(digits)}%` : '–';

export const integer = (value) => isKnown(value) ? value.toLocaleString('en') : '–';

// 1 label, 1,200 labels
export const counted = (number, noun) => `${integer(number)} ${noun}${number === 1 ? '' : 's'}`;

export function decimal(value, digits = 3) {
  if (!isKnown(value)) return '–';
  if (value === 0) return '0';
  return Math.abs(value) < 1e-3 ? value.toExponential(1) : Number(value.toPrecision(digits)).toString();
}

export const capitalised = (text) => `${text[0].toUpperCase()}${text.slice(1)}`;

export const ascending = (first, second) => first - second;

// About as many letters as there is room for, in pixels.
export function fitText(text, room, fontSize = 12) {
  const most = Math.max(3, Math.floor(room / fontSize / .56));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
