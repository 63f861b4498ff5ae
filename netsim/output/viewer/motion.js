// The motion: series of float32 rows over the times, read at any instant (positions linearly, quaternions along the great circle).

function bytes(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
}

class Motion {
  constructor(scene) {
    this.times = new Float64Array(bytes(scene.time));
    this.block = new Float32Array(bytes(scene.series));
    this.first = this.times[0];
    this.last = this.times[this.times.length - 1];
    this.seek(this.first);
  }

  // The interval [i, i + 1] that holds the time and the fraction of it that has passed.
  seek(time) {
    const { times } = this;
    this.time = Math.min(this.last, Math.max(this.first, time));
    let low = 0;
    let high = times.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= this.time) low = middle;
      else high = middle;
    }
    this.index = low;
    this.part = high > low && times[high] > times[low] ? (this.time - times[low]) / (times[high] - times[low]) : 0;
  }

  rows([first, rows, width]) {
    return this.block.subarray(first, first + rows * width);
  }

  vector([first, rows], out) {
    const a = first + 3 * Math.min(this.index, rows - 1);
    const b = first + 3 * Math.min(this.index + 1, rows - 1);
    const s = this.part;
    const x = this.block;
    return out.set(x[a] + s * (x[b] - x[a]), x[a + 1] + s * (x[b + 1] - x[a + 1]), x[a + 2] + s * (x[b + 2] - x[a + 2]));
  }

  // Kept as w, x, y, z; three.js wants x, y, z, w.
  quaternion([first, rows], out) {
    const a = first + 4 * Math.min(this.index, rows - 1);
    const b = first + 4 * Math.min(this.index + 1, rows - 1);
    const q = this.block;
    out.set(q[a + 1], q[a + 2], q[a + 3], q[a]);
    return a === b ? out : out.slerp(Motion.next.set(q[b + 1], q[b + 2], q[b + 3], q[b]), this.part);
  }
}
Motion.next = new THREE.Quaternion();
