// Visible text whose contrast with its ground is below WCAG AA: 4.5, and 3 for large text.
(() => {
  const numbers = (colour) => (colour.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const over = ([r, g, b, a = 1], ground) => [r, g, b].map((value, k) => value * a + ground[k] * (1 - a));
  const luminance = (colour) =>
    colour.map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
      .reduce((sum, value, k) => sum + value * [0.2126, 0.7152, 0.0722][k], 0);
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const groundOf = (element) => {
    if (!element) return [255, 255, 255];
    const square = element.matches('text.cell') && element.previousElementSibling; // of a heat map
    if (!square) return over(numbers(getComputedStyle(element).backgroundColor), groundOf(element.parentElement));
    const { fill, fillOpacity } = getComputedStyle(square);
    return over([...numbers(fill).slice(0, 3), Number(fillOpacity)], groundOf(element.parentElement));
  };
  const opacityOf = (element) => element ? getComputedStyle(element).opacity * opacityOf(element.parentElement) : 1;
  const found = new Set();
  const check = (element, style, words) => {
    const ground = groundOf(element);
    const [r, g, b, a = 1] = numbers(element instanceof SVGElement ? style.fill : style.color);
    const ratio = contrast(over([r, g, b, a * opacityOf(element)], ground), ground);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) found.add(`${words.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode, element = text.parentElement;
    if (!text.data.trim() || element.closest('script, style, option, :disabled, .visually-hidden, .skip')) continue;
    if (element.checkVisibility({ visibilityProperty: true })) check(element, getComputedStyle(element), text.data);
  }
  for (const input of document.querySelectorAll('input[placeholder]')) {
    if (input.checkVisibility()) check(input, getComputedStyle(input, '::placeholder'), input.placeholder);
  }
  return [...found];
})();
