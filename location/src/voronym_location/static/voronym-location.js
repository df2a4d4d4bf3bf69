/* What a device needs of voronym's location anonymizer: one file, no dependencies.
 *
 * Model mode: `assign` and `place` apply equation 4 to a home that never leaves the device. How many users
 * share the answer is a matter of chance; a model promises a probability, never k.
 * Service: `verify` checks the signature of a statement (Ed25519, by WebCrypto where there is one).
 *
 * In a page: <script src="voronym-location.js"></script>, then voronymLocation.place(model, lat, lon).
 * In Node: const location = require("./voronym-location.js").
 */
(function (root, make) {
  "use strict";
  if (typeof module === "object" && module.exports) {
    module.exports = make();
  } else {
    root.voronymLocation = make();
  }
})(typeof self !== "undefined" ? self : this, function () {
  "use strict";

  const FORMAT = "voronym location model";
  const VERSION = 1;

  function rows(value, width, many) {
    const whole = Array.isArray(value) && value.length > 0 && (many === undefined || value.length === many);
    if (!whole) throw new Error("the model's cells and places are not as many");
    for (const row of value) {
      if (!Array.isArray(row) || row.length !== width || !row.every(Number.isFinite)) {
        throw new Error("the model has a value that is no number");
      }
    }
    return value;
  }

  /** Return a model from the text of its file, or throw. */
  function read(text) {
    const found = JSON.parse(text);
    if (found === null || typeof found !== "object" || found.format !== FORMAT) {
      throw new Error("the file is no location model");
    }
    if (found.version !== VERSION) throw new Error("the model has a version that this file does not read");
    rows(found.cells, 4);
    rows(found.places, 2, found.cells.length);
    return found;
  }

  /** Return the number of a home's cell: the least squared line plus cost, of equals the first. */
  function assign(model, latitude, longitude) {
    if (!(Math.abs(latitude) <= 90) || !(Math.abs(longitude) <= 360)) {
      throw new RangeError("a home is a latitude (-90..90) and a longitude (-360..360) in degrees");
    }
    const lat = (latitude * Math.PI) / 180;
    const lon = (longitude * Math.PI) / 180;
    const x = Math.cos(lat) * Math.cos(lon);
    const y = Math.cos(lat) * Math.sin(lon);
    const z = Math.sin(lat);
    let best = Infinity;
    let cell = -1;
    model.cells.forEach(function (one, number) {
      const a = x - one[0];
      const b = y - one[1];
      const c = z - one[2];
      const value = a * a + b * b + c * c + one[3];
      if (value < best) {
        best = value;
        cell = number;
      }
    });
    return cell;
  }

  /** Return what to tell instead of a home: [latitude, longitude]. */
  function place(model, latitude, longitude) {
    return model.places[assign(model, latitude, longitude)];
  }

  function bytes(text) {
    const plain = text.replace(/-/g, "+").replace(/_/g, "/");
    return Uint8Array.from(atob(plain), function (one) {
      return one.charCodeAt(0);
    });
  }

  /** Return whether the signature of a statement is right: a promise of true, false, or null.
   *
   * signed: the signed bytes, as text; signature and key: base64, with or without padding. null: this browser
   * cannot say, since its WebCrypto has no Ed25519.
   */
  async function verify(signed, signature, key) {
    const crypto = globalThis.crypto && globalThis.crypto.subtle;
    if (!crypto) return null;
    let known;
    try {
      known = await crypto.importKey("raw", bytes(key), { name: "Ed25519" }, false, ["verify"]);
    } catch (error) {
      return error.name === "NotSupportedError" ? null : false;
    }
    try {
      return await crypto.verify({ name: "Ed25519" }, known, bytes(signature), new TextEncoder().encode(signed));
    } catch (error) {
      return false;
    }
  }

  return Object.freeze({ read: read, assign: assign, place: place, verify: verify });
});
