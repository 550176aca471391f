//! Elementary functions that match the reference to the last digit.
//!
//! The usual mathematical library is more exact, but differs from Go's in the last digit of about
//! every fifth value, and templates print all digits. So these are the algorithms of Go's library
//! on amd64: those of Cephes for trigonometric and hyperbolic functions and gamma, those of FreeBSD
//! for logarithms.

#![allow(clippy::excessive_precision, reason = "coefficients stand as they were published")]

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, PI};

/// `c0·xⁿ + c1·xⁿ⁻¹ + …`
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

/// The value with the sign of `sign`, for odd functions.
fn odd(sign: f64, value: f64) -> f64 {
    if sign.is_sign_negative() { -value } else { value }
}

/// From here on, multiples of π/4 cannot be subtracted in three steps; the usual library is used.
const REDUCIBLE: f64 = (1u64 << 29) as f64;

/// π/4 in three parts, the first two with so few bits that their products with small integers are
/// exact.
const PI_4_PARTS: [f64; 3] = [7.85398125648498535156e-1, 3.77489470793079817668e-8, 2.69515142907905952645e-15];

const SINE: [f64; 6] = [
    1.58962301576546568060e-10,
    -2.50507477628578072866e-8,
    2.75573136213857245213e-6,
    -1.98412698295895385996e-4,
    8.33333333332211858878e-3,
    -1.66666666666666307295e-1,
];
const COSINE: [f64; 6] = [
    -1.13585365213876817300e-11,
    2.08757008419747316778e-9,
    -2.75573141792967388112e-7,
    2.48015872888517045348e-5,
    -1.38888888888730564116e-3,
    4.16666666666665929218e-2,
];

/// The octant of a positive angle, rounded to an even one, and the remaining angle, between -π/4
/// and π/4.
fn octant(x: f64) -> (u64, f64) {
    let mut octant = (x * (4.0 / PI)) as u64;
    octant += octant & 1;
    let count = octant as f64;
    (octant & 7, PI_4_PARTS.iter().fold(x, |rest, part| rest - count * part))
}

fn sine_near_0(x: f64) -> f64 {
    let square = x * x;
    x + x * square * polynomial(&SINE, square)
}

fn cosine_near_0(x: f64) -> f64 {
    let square = x * x;
    1.0 - 0.5 * square + square * square * polynomial(&COSINE, square)
}

pub(super) fn sin(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() || x.abs() >= REDUCIBLE {
        return x.sin();
    }
    let value = match octant(x.abs()) {
        (0, rest) => sine_near_0(rest),
        (2, rest) => cosine_near_0(rest),
        (4, rest) => -sine_near_0(rest),
        (_, rest) => -cosine_near_0(rest),
    };
    odd(x, value)
}

pub(super) fn cos(x: f64) -> f64 {
    if x.is_nan() || x.abs() >= REDUCIBLE {
        return x.cos();
    }
    match octant(x.abs()) {
        (0, rest) => cosine_near_0(rest),
        (2, rest) => -sine_near_0(rest),
        (4, rest) => -cosine_near_0(rest),
        (_, rest) => sine_near_0(rest),
    }
}

pub(super) fn tan(x: f64) -> f64 {
    const OVER: [f64; 3] = [-1.30936939181383734205e4, 1.15351664838587416140e6, -1.79565251976484877988e7];
    const UNDER: [f64; 5] =
        [1.0, 1.36812963470692954678e4, -1.32089234440210967447e6, 2.50083801823357915839e7, -5.38695755929454629881e7];
    if x == 0.0 || x.is_nan() || x.abs() >= REDUCIBLE {
        return x.tan();
    }
    let (octant, rest) = octant(x.abs());
    let square = rest * rest;
    let mut value = rest;
    if square > 1e-14 {
        value += rest * (square * polynomial(&OVER, square) / polynomial(&UNDER, square));
    }
    odd(x, if octant & 2 == 2 { -1.0 / value } else { value })
}

pub(super) fn atan(x: f64) -> f64 {
    if x == 0.0 { x } else { odd(x, atan_of_positive(x.abs())) }
}

fn atan_of_positive(x: f64) -> f64 {
    /// tan(3π/8)
    const TAN_3_PI_8: f64 = 2.41421356237309504880;
    /// The bits of π/2 beyond the precision of a float.
    const MORE_BITS: f64 = 6.123233995736765886130e-17;
    if x <= 0.66 {
        atan_near_0(x)
    } else if x > TAN_3_PI_8 {
        FRAC_PI_2 - atan_near_0(1.0 / x) + MORE_BITS
    } else {
        FRAC_PI_4 + atan_near_0((x - 1.0) / (x + 1.0)) + 0.5 * MORE_BITS
    }
}

fn atan_near_0(x: f64) -> f64 {
    const OVER: [f64; 5] = [
        -8.750608600031904122785e-01,
        -1.615753718733365076637e+01,
        -7.500855792314704667340e+01,
        -1.228866684490136173410e+02,
        -6.485021904942025371773e+01,
    ];
    const UNDER: [f64; 6] = [
        1.0,
        2.485846490142306297962e+01,
        1.650270098316988542046e+02,
        4.328810604912902668951e+02,
        4.853903996359136964868e+02,
        1.945506571482613964425e+02,
    ];
    let square = x * x;
    let share = square * polynomial(&OVER, square) / polynomial(&UNDER, square);
    x * share + x
}

pub(super) fn asin(x: f64) -> f64 {
    let size = x.abs();
    if x == 0.0 || x.is_nan() || size > 1.0 {
        return x.asin();
    }
    let other = (1.0 - size * size).sqrt();
    odd(x, if size > 0.7 { FRAC_PI_2 - atan_of_positive(other / size) } else { atan_of_positive(size / other) })
}

pub(super) fn acos(x: f64) -> f64 {
    FRAC_PI_2 - asin(x)
}

pub(super) fn atan2(y: f64, x: f64) -> f64 {
    if x == 0.0 || y == 0.0 || !x.is_finite() || !y.is_finite() {
        return y.atan2(x);
    }
    let angle = atan(y / x);
    match (x < 0.0, angle <= 0.0) {
        (false, _) => angle,
        (true, true) => angle + PI,
        (true, false) => angle - PI,
    }
}

pub(super) fn hypot(x: f64, y: f64) -> f64 {
    if !x.is_finite() || !y.is_finite() {
        return x.hypot(y);
    }
    let (long, short) = if x.abs() < y.abs() { (y.abs(), x.abs()) } else { (x.abs(), y.abs()) };
    if long == 0.0 {
        return 0.0;
    }
    let ratio = short / long;
    long * (1.0 + ratio * ratio).sqrt()
}

pub(super) fn exp(x: f64) -> f64 {
    /// ln 2 in two parts.
    const LN_2_PARTS: [f64; 2] =
        [0.69314718055966295651160180568695068359375, 0.28235290563031577122588448175013436025525412068e-12];
    /// 1/8!, 1/7!, …
    const TAYLOR: [f64; 8] = [
        2.4801587301587301587e-5,
        1.9841269841269841270e-4,
        1.3888888888888888889e-3,
        8.3333333333333333333e-3,
        4.1666666666666666667e-2,
        1.6666666666666666667e-1,
        0.5,
        1.0,
    ];
    if !(-7.45133219101941108420e+02..=7.09782712893384e+02).contains(&x) {
        return x.exp();
    }
    let exponent = (x * std::f64::consts::LOG2_E).round_ties_even();
    let rest = LN_2_PARTS.iter().fold(x, |rest, part| (-exponent).mul_add(*part, rest)) / 16.0;
    let mut value = rest * TAYLOR.iter().fold(0.0, |sum: f64, c| sum.mul_add(rest, *c));
    // (e^x - 1) of the double argument, four times.
    for _ in 0..3 {
        value *= value + 2.0;
    }
    scale(value.mul_add(value + 2.0, 1.0), exponent as i32)
}

/// `value · 2^exponent`, rounded once.
fn scale(value: f64, exponent: i32) -> f64 {
    let power = |exponent: i32| f64::from_bits(((exponent + 1023) as u64) << 52);
    match exponent {
        -1022..=1023 => value * power(exponent),
        1024.. if exponent > 2100 => value * f64::INFINITY,
        1024.. => scale(value * power(1023), exponent - 1023),
        // Steps with normal results do not round; the last one may.
        _ if exponent < -2200 => value * 0.0,
        _ => {
            let (mantissa, own) = parts(value);
            let total = exponent + own;
            if total > -1022 {
                mantissa * power(total)
            } else {
                mantissa * power(-1000) * power((total + 1000).max(-1022))
            }
        }
    }
}

/// A mantissa from ½ up to 1 (with the value's sign) and its exponent of 2.
fn parts(value: f64) -> (f64, i32) {
    if value == 0.0 || !value.is_finite() {
        return (value, 0);
    }
    let (value, shift) = if value.abs() < f64::MIN_POSITIVE { (value * 4503599627370496.0, -52) } else { (value, 0) };
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1022;
    (f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52), exponent + shift)
}

const LN_2_HIGH: f64 = 6.93147180369123816490e-01;
const LN_2_LOW: f64 = 1.90821492927058770002e-10;

/// Coefficients of the series of `ln(1+f)` in `(f/(2+f))²`.
const LOGARITHM: [f64; 7] = [
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
];

pub(super) fn ln(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 || x.is_infinite() {
        return x.ln();
    }
    // As on amd64, subnormal numbers are treated as about the smallest normal one.
    let bits = x.to_bits();
    let mut exponent = f64::from((bits >> 52) as i32 - 1022);
    let mut mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1022 << 52);
    if mantissa < std::f64::consts::FRAC_1_SQRT_2 {
        mantissa *= 2.0;
        exponent -= 1.0;
    }
    let f = mantissa - 1.0;
    let s = f / (2.0 + f);
    let (s2, s4) = (s * s, s * s * (s * s));
    let [l1, l2, l3, l4, l5, l6, l7] = LOGARITHM;
    let rest = s2 * (l1 + s4 * (l3 + s4 * (l5 + s4 * l7))) + s4 * (l2 + s4 * (l4 + s4 * l6));
    let half = 0.5 * f * f;
    exponent * LN_2_HIGH - ((half - (s * (half + rest) + exponent * LN_2_LOW)) - f)
}

/// `ln(1 + x)`.
fn ln_1p(x: f64) -> f64 {
    /// √2 - 1 and √½ - 1: between them, no reduction is needed.
    const ABOVE: f64 = 4.142135623730950488017e-01;
    const BELOW: f64 = -2.928932188134524755992e-01;
    if x.is_nan()
        || x <= -1.0
        || x.is_infinite()
        || x.abs() < 1.0 / (1u64 << 29) as f64
        || x.abs() >= (1u64 << 53) as f64
    {
        return x.ln_1p();
    }
    let (mut exponent, mut f, mut correction) = (0.0, x, 0.0);
    if x >= ABOVE || x <= BELOW {
        let sum = 1.0 + x;
        let bits = sum.to_bits();
        exponent = f64::from((bits >> 52) as i32 - 1023);
        correction = if exponent > 0.0 { 1.0 - (sum - x) } else { x - (sum - 1.0) } / sum;
        let mut mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
        if mantissa >= std::f64::consts::SQRT_2 {
            exponent += 1.0;
            mantissa /= 2.0;
        }
        f = mantissa - 1.0;
        if f == 0.0 {
            return exponent * LN_2_HIGH + (correction + exponent * LN_2_LOW);
        }
    }
    let half = 0.5 * f * f;
    let s = f / (2.0 + f);
    let square = s * s;
    let rest = square * LOGARITHM.iter().rev().fold(0.0, |sum, c| c + square * sum);
    if exponent == 0.0 {
        return f - (half - s * (half + rest));
    }
    exponent * LN_2_HIGH - ((half - (s * (half + rest) + (exponent * LN_2_LOW + correction))) - f)
}

pub(super) fn sinh(x: f64) -> f64 {
    const OVER: [f64; 4] = [
        -0.2630563213397497062819489e+2,
        -0.2894211355989563807284660366e+4,
        -0.8991272022039509355398013511e+5,
        -0.6307673640497716991184787251e+6,
    ];
    const UNDER: [f64; 4] =
        [1.0, -0.173678953558233699533450911e+3, 0.1521517378790019070696485176e+5, -0.6307673640497716991212077277e+6];
    let size = x.abs();
    let value = if size > 21.0 {
        exp(size) * 0.5
    } else if size > 0.5 {
        let power = exp(size);
        (power - 1.0 / power) * 0.5
    } else {
        let square = size * size;
        polynomial(&OVER, square) * size / polynomial(&UNDER, square)
    };
    odd(x, value)
}

pub(super) fn cosh(x: f64) -> f64 {
    let power = exp(x.abs());
    if x.abs() > 21.0 { power * 0.5 } else { (power + 1.0 / power) * 0.5 }
}

pub(super) fn tanh(x: f64) -> f64 {
    const OVER: [f64; 3] = [-9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3];
    const UNDER: [f64; 4] = [1.0, 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3];
    let size = x.abs();
    if size > 44.014845965556527 {
        odd(x, 1.0)
    } else if size >= 0.625 {
        odd(x, 1.0 - 2.0 / (exp(2.0 * size) + 1.0))
    } else if x == 0.0 {
        x
    } else {
        let square = x * x;
        x + x * square * polynomial(&OVER, square) / polynomial(&UNDER, square)
    }
}

/// Below it, `asinh` and `atanh` are the identity; above its inverse, their square root is
/// negligible.
const TINY: f64 = 1.0 / (1u64 << 28) as f64;

pub(super) fn asinh(x: f64) -> f64 {
    let size = x.abs();
    if !x.is_finite() || size < TINY {
        return x;
    }
    let value = if size > 1.0 / TINY {
        ln(size) + LN_2
    } else if size > 2.0 {
        ln(2.0 * size + 1.0 / ((size * size + 1.0).sqrt() + size))
    } else {
        ln_1p(size + size * size / (1.0 + (1.0 + size * size).sqrt()))
    };
    odd(x, value)
}

pub(super) fn acosh(x: f64) -> f64 {
    if x.is_nan() || x < 1.0 {
        f64::NAN
    } else if x == 1.0 {
        0.0
    } else if x >= 1.0 / TINY {
        ln(x) + LN_2
    } else if x > 2.0 {
        ln(2.0 * x - 1.0 / (x + (x * x - 1.0).sqrt()))
    } else {
        let t = x - 1.0;
        ln_1p(t + (2.0 * t + t * t).sqrt())
    }
}

pub(super) fn atanh(x: f64) -> f64 {
    let size = x.abs();
    if x.is_nan() || size >= 1.0 {
        return x.atanh();
    }
    let twice = size + size;
    let value = if size < TINY {
        size
    } else if size < 0.5 {
        0.5 * ln_1p(twice + twice * size / (1.0 - size))
    } else {
        0.5 * ln_1p(twice / (1.0 - size))
    };
    odd(x, value)
}

pub(super) fn pow(x: f64, y: f64) -> f64 {
    let whole = y.abs().trunc();
    let is_special = x == 0.0 || x == 1.0 || y == 0.0 || !x.is_finite() || !y.is_finite() || whole >= 9.2e18;
    if is_special || x < 0.0 && whole != y.abs() {
        return x.powf(y);
    }
    if y == 1.0 {
        return x;
    }
    if y.abs() == 0.5 {
        return if y > 0.0 { x.sqrt() } else { 1.0 / x.sqrt() };
    }
    // x^y = x^fraction · x^whole, the second by squaring mantissa and exponent apart.
    let (mut fraction, mut count) = (y.abs() - whole, whole as u64);
    let (mut value, mut exponent) = (1.0, 0i64);
    if fraction != 0.0 {
        if fraction > 0.5 {
            fraction -= 1.0;
            count += 1;
        }
        value = exp(fraction * ln(x));
    }
    let (mut mantissa, own) = parts(x);
    let mut own = i64::from(own);
    while count != 0 {
        if !(-4096..=4096).contains(&own) {
            // Out of range already.
            exponent += own;
            break;
        }
        if count & 1 == 1 {
            value *= mantissa;
            exponent += own;
        }
        mantissa *= mantissa;
        own *= 2;
        if mantissa < 0.5 {
            mantissa += mantissa;
            own -= 1;
        }
        count >>= 1;
    }
    if y < 0.0 {
        value = 1.0 / value;
        exponent = -exponent;
    }
    scale(value, exponent.clamp(-10_000, 10_000) as i32)
}

pub(super) fn gamma(x: f64) -> f64 {
    const OVER: [f64; 7] = [
        1.60119522476751861407e-04,
        1.19135147006586384913e-03,
        1.04213797561761569935e-02,
        4.76367800457137231464e-02,
        2.07448227648435975150e-01,
        4.94214826801497100753e-01,
        9.99999999999999996796e-01,
    ];
    const UNDER: [f64; 8] = [
        -2.31581873324120129819e-05,
        5.39605580493303397842e-04,
        -4.45641913851797240494e-03,
        1.18139785222060435552e-02,
        3.58236398605498653373e-02,
        -2.34591795718243348568e-01,
        7.14304917030273074085e-02,
        1.00000000000000000320e+00,
    ];
    /// Euler's constant.
    const EULER: f64 = 0.57721566490153286060651209008240243104215933593992;
    if x.is_nan() || x == f64::NEG_INFINITY || x < 0.0 && x == x.floor() {
        return f64::NAN;
    }
    if x == 0.0 || x == f64::INFINITY {
        return f64::INFINITY.copysign(x);
    }
    if x.abs() > 33.0 {
        return if x > 0.0 { stirling(x).0 * stirling(x).1 } else { reflected_gamma(-x) };
    }
    // Moves to the interval from 2 to 3.
    let (mut x, mut value) = (x, 1.0);
    while x >= 3.0 {
        x -= 1.0;
        value *= x;
    }
    while x < 2.0 {
        if x.abs() < 1e-9 && x != 0.0 {
            return value / ((1.0 + EULER * x) * x);
        }
        if x == 0.0 {
            return f64::INFINITY;
        }
        value /= x;
        x += 1.0;
    }
    if x == 2.0 { value } else { value * polynomial(&OVER, x - 2.0) / polynomial(&UNDER, x - 2.0) }
}

/// Gamma of `-x` for a large non-integer `x`.
fn reflected_gamma(x: f64) -> f64 {
    let floor = x.floor();
    let sign = if floor % 2.0 == 0.0 { -1.0 } else { 1.0 };
    let rest = if x - floor > 0.5 { x - (floor + 1.0) } else { x - floor };
    let sine = (x * sin(PI * rest)).abs();
    if sine == 0.0 {
        return f64::INFINITY.copysign(sign);
    }
    let (first, second) = stirling(x);
    let product = sine * first * second;
    sign * if product.is_infinite() { PI / sine / first / second } else { PI / product }
}

/// Stirling's formula, as two factors, because a single one would overflow early.
fn stirling(x: f64) -> (f64, f64) {
    const SERIES: [f64; 5] = [
        7.87311395793093628397e-04,
        -2.29549961613378126380e-04,
        -2.68132617805781232825e-03,
        3.47222221605458667310e-03,
        8.33333333333482257126e-02,
    ];
    /// √2π
    const SQRT_2_PI: f64 = 2.506628274631000502417;
    if x > 200.0 {
        return (f64::INFINITY, 1.0);
    }
    let inverse = 1.0 / x;
    let factor = 1.0 + inverse * polynomial(&SERIES, inverse);
    let power = exp(x);
    if x > 143.01608 {
        let half = pow(x, 0.5 * x - 0.25);
        (half, SQRT_2_PI * factor * (half / power))
    } else {
        (pow(x, x - 0.5) / power, SQRT_2_PI * factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values for which the usual library has another last digit, recorded from the reference.
    #[test]
    fn digits_match_the_reference() {
        for (name, found, expected) in [
            ("exp", exp(1.5), 4.481689070338065),
            ("exp", exp(-745.0), 5e-324),
            ("acos", acos(0.5), 1.0471975511965976),
            ("asin", asin(0.246573), 0.2491424731758912),
            ("atan", atan(5.0), 1.3734007669450157),
            ("cos", cos(0.1), 0.9950041652780257),
            ("sin", sin(2.0), 0.9092974268256816),
            ("tan", tan(1.0), 1.557407724654902),
            ("acosh", acosh(3.0), 1.7627471740390859),
            ("asinh", asinh(7.3), 2.6856801677761517),
            ("atanh", atanh(0.159604), 0.16098031859281656),
            ("cosh", cosh(1.5), 2.3524096152432477),
            ("sinh", sinh(0.1), 0.10016675001984404),
            ("tanh", tanh(0.94245), 0.7363458748787084),
            ("gamma", gamma(0.25), 3.625609908221908),
            ("gamma", gamma(-171.5), 1.9316265431712e-310),
            ("log", ln(3.0), 1.0986122886681096),
            ("pow", pow(23.3981, -0.46727), 0.22920441792726412),
            ("atan2", atan2(-20.5, -3.44382), -1.73723348086138),
            ("hypot", hypot(-2.98789, 20.5), 20.716599302301045),
        ] {
            assert_eq!(found.to_bits(), f64::to_bits(expected), "{name}: {found}");
        }
    }

    #[test]
    fn handles_the_limits_of_the_range() {
        assert_eq!(exp(710.0), f64::INFINITY);
        assert_eq!(exp(-746.0), 0.0);
        assert_eq!(pow(2.0, 1024.0), f64::INFINITY);
        assert_eq!(pow(2.0, -1075.0), 0.0);
        assert_eq!(pow(2.0, -1074.0), 5e-324);
        assert_eq!(pow(-2.0, 3.0), -8.0);
        assert_eq!(pow(-1.0, 1e300), 1.0);
        assert!(pow(-2.0, 0.5).is_nan());
        assert_eq!(gamma(171.0), 7.257415615307999e+306);
        assert_eq!(gamma(172.0), f64::INFINITY);
        assert!(gamma(-1.0).is_nan());
        assert!(asin(1.5).is_nan() && acosh(0.5).is_nan() && ln(-1.0).is_nan());
    }
}
