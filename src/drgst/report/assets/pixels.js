// Points stamped into pixels by hand: where there is no graphics card, drawing 20,000 images takes half a second, this
// takes a few hundredths.
class Pixels {
  resize(width, height, ratio) {
    Object.assign(this, {width: Math.round(width * ratio), height: Math.round(height * ratio), ratio, stamps: new Map()});
    this.image = new ImageData(Math.max(1, this.width), Math.max(1, this.height));
    this.words = new Uint32Array(this.image.data.buffer);
  }
  clear() { this.words.fill(0); }
  forget() { this.stamps.clear(); }
  stamp(look_, radius, edge) { // the picture of a point; looks are few and shared
    let made = this.stamps.get(look_);
    if (made) return made;
    const r = look_.size * radius * this.ratio, half = Math.ceil(r * 1.6) + 1, side = 2 * half + 1;
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = side;
    const pen = canvas.getContext('2d', {willReadFrequently: true}), path_ = new Path2D(look_.shape);
    pen.translate(half + .5, half + .5); pen.scale(r, r);
    pen.lineWidth = (look_.hollow ? 1 : .5) * this.ratio / r;
    pen.fillStyle = pen.strokeStyle = look_.colour;
    if (look_.hollow) pen.stroke(path_); else pen.fill(path_);
    if (!look_.hollow && r > 2.4 * this.ratio) { pen.strokeStyle = edge; pen.stroke(path_); } // parts points that touch
    made = {half, side, data: pen.getImageData(0, 0, side, side).data};
    this.stamps.set(look_, made);
    return made;
  }
  put({half, side, data}, x, y, strength) { // source over destination, strength from 0 to 1
    const left = Math.round(x * this.ratio) - half, top = Math.round(y * this.ratio) - half, into = this.image.data;
    const from = Math.max(0, -left), to = Math.min(side, this.width - left), last = Math.min(side, this.height - top);
    for (let v = Math.max(0, -top); v < last; v++) {
      let s = (v * side + from) * 4, d = ((top + v) * this.width + left + from) * 4;
      for (let u = from; u < to; u++, s += 4, d += 4) {
        const a = data[s + 3] * strength;
        if (a < 1) continue;
        const b = into[d + 3] * (1 - a / 255), sum = a + b;
        into[d] = (data[s] * a + into[d] * b) / sum;
        into[d + 1] = (data[s + 1] * a + into[d + 1] * b) / sum;
        into[d + 2] = (data[s + 2] * a + into[d + 2] * b) / sum;
        into[d + 3] = sum;
      }
    }
  }
}
