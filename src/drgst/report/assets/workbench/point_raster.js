// Points copied into pixels one by one. Without a graphics card, a canvas needs half a second to draw 20,000 images;
// this needs a few hundredths.
export class PointRaster {
  resize(width, height, ratio) {
    this.width = Math.round(width * ratio);
    this.height = Math.round(height * ratio);
    this.ratio = ratio;
    this.stamps = new Map();
    this.image = new ImageData(Math.max(1, this.width), Math.max(1, this.height));
  }

  clear() {
    this.image.data.fill(0);
  }

  forgetStamps() {
    this.stamps.clear();
  }

  // The pixels of a point in a style; a style is drawn once.
  stamp(style, radius, edgeColour) {
    let stamp = this.stamps.get(style);
    if (!stamp) {
      stamp = drawStamp(style, radius * this.ratio, this.ratio, edgeColour);
      this.stamps.set(style, stamp);
    }
    return stamp;
  }

  // Source over destination with an opacity from 0 to 1.
  put({ half, side, data }, x, y, opacity) {
    const left = Math.round(x * this.ratio) - half, top = Math.round(y * this.ratio) - half;
    const firstColumn = Math.max(0, -left), lastColumn = Math.min(side, this.width - left);
    const lastRow = Math.min(side, this.height - top);
    const target = this.image.data;
    for (let row = Math.max(0, -top); row < lastRow; row++) {
      let from = (row * side + firstColumn) * 4;
      let to = ((top + row) * this.width + left + firstColumn) * 4;
      for (let column = firstColumn; column < lastColumn; column++, from += 4, to += 4) {
        const above = data[from + 3] * opacity;
        if (above < 1) continue;
        const below = target[to + 3] * (1 - above / 255), sum = above + below;
        target[to] = (data[from] * above + target[to] * below) / sum;
        target[to + 1] = (data[from + 1] * above + target[to + 1] * below) / sum;
        target[to + 2] = (data[from + 2] * above + target[to + 2] * below) / sum;
        target[to + 3] = sum;
      }
    }
  }
}

function drawStamp(style, pixelRadius, ratio, edgeColour) {
  const radius = style.size * pixelRadius, half = Math.ceil(radius * 1.6) + 1, side = 2 * half + 1;
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = side;
  const pen = canvas.getContext('2d', { willReadFrequently: true }), outline = new Path2D(style.shape);
  pen.translate(half + .5, half + .5);
  pen.scale(radius, radius);
  pen.lineWidth = (style.hollow ? 1 : .5) * ratio / radius;
  pen.fillStyle = pen.strokeStyle = style.colour;
  if (style.hollow) pen.stroke(outline);
  else pen.fill(outline);
  if (!style.hollow && radius > 2.4 * ratio) { // an edge separates points that touch
    pen.strokeStyle = edgeColour;
    pen.stroke(outline);
  }
  return { half, side, data: pen.getImageData(0, 0, side, side).data };
}
