// Where there is no WebGL: the projected triangles, lines and dots, painted from the far to the near on a plain canvas.

class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext('2d');
    this.projector = new THREE.Projector();
    this.light = new THREE.Vector3();
    this.colour = new THREE.Color();
  }

  setSize(width, height, ratio) {
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.ratio = ratio;
  }

  render(scene, camera) {
    const { pen, canvas } = this;
    const { elements } = this.projector.projectScene(scene, camera, false, false);
    this.light.set(0.35, 0.5, 0.8).normalize().applyQuaternion(camera.quaternion);
    for (const e of elements) e.far = this.depth(e, camera);
    elements.sort((a, b) => a.renderOrder - b.renderOrder || b.far - a.far);
    pen.setTransform(canvas.width / 2, 0, 0, -canvas.height / 2, canvas.width / 2, canvas.height / 2);
    pen.clearRect(-1, -1, 2, 2);
    pen.lineJoin = pen.lineCap = 'round';
    for (const e of elements) this.paint(e);
  }

  // The distance along the line of sight; outlines count as a little nearer than the face they bound.
  depth(element, camera) {
    const along = (z) => (camera.isPerspectiveCamera ? (2 * camera.far * camera.near) / (camera.far + camera.near - z * (camera.far - camera.near)) : z);
    if (element.v3) return (along(element.v1.positionScreen.z) + along(element.v2.positionScreen.z) + along(element.v3.positionScreen.z)) / 3;
    const z = element.v1 ? (along(element.v1.positionScreen.z) + along(element.v2.positionScreen.z)) / 2 : along(element.z);
    return camera.isPerspectiveCamera ? z * 0.997 : z - 1e-4;
  }

  paint(element) {
    const { pen } = this;
    pen.beginPath();
    for (const v of [element.v1, element.v2, element.v3]) if (v) pen.lineTo(v.positionScreen.x, v.positionScreen.y);
    if (element.v3) {
      const shade = 0.58 + 0.42 * Math.max(0, element.normalModel.dot(this.light));
      pen.closePath();
      pen.fillStyle = pen.strokeStyle = this.colour.copy(element.material.color).multiplyScalar(shade ** 1.6).getStyle();
      pen.fill();
      this.stroke(1.1);
    } else if (element.v1) {
      pen.strokeStyle = element.material.color.getStyle();
      this.stroke(element.material.linewidth);
    } else {
      const radius = (element.material.size * this.ratio) / 2;
      pen.ellipse(element.x, element.y, (2 * radius) / this.canvas.width, (2 * radius) / this.canvas.height, 0, 0, 7);
      pen.fillStyle = element.material.color.getStyle();
      pen.fill();
    }
  }

  stroke(width) {
    this.pen.save();
    this.pen.setTransform(1, 0, 0, 1, 0, 0);
    this.pen.lineWidth = width * this.ratio;
    this.pen.stroke();
    this.pen.restore();
  }
}
