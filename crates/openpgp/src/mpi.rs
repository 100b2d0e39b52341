//! Large integers of keys and messages, RSA and ElGamal.
//!
//! Counterpart: pgp-mpi.c, pgp-mpi-openssl.c.

use crate::error::Fault;
use crate::host::Context;
use crate::source::{Source, read_exact};
use num_bigint::BigUint;
use pgerror::Result;

/// An integer as it is stored: the number of its bits, and its bytes. In data that is not valid the
/// number of bits may be wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mpi {
    pub(crate) bits: u16,
    pub(crate) bytes: Vec<u8>,
}

impl Mpi {
    pub(crate) fn read(cx: &Context<'_>, source: &mut dyn Source) -> Result<Mpi> {
        let mut head = [0; 2];
        read_exact(cx, source, &mut head)?;
        let bits = u16::from_be_bytes(head);
        let mut bytes = vec![0; usize::from(bits).div_ceil(8)];
        read_exact(cx, source, &mut bytes)?;
        Ok(Mpi { bits, bytes })
    }

    /// The stored form.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bits.to_be_bytes());
        out.extend_from_slice(&self.bytes);
    }

    fn number(&self, cx: &Context<'_>) -> Result<BigUint> {
        let number = BigUint::from_bytes_be(&self.bytes);
        if number.bits() == u64::from(self.bits) {
            return Ok(number);
        }
        cx.debug(format_args!(
            "mpi_to_bn: bignum conversion failed: mpi={}, bn={}",
            self.bits,
            number.bits()
        ));
        Err(Fault::Math.into())
    }

    fn of(number: &BigUint) -> Result<Mpi> {
        let bits = u16::try_from(number.bits()).map_err(|_| Fault::Math)?;
        let bytes = if bits == 0 { Vec::new() } else { number.to_bytes_be() };
        Ok(Mpi { bits, bytes })
    }
}

/// Moduli up to this length have their powers computed in one step that is not interrupted; it
/// takes a fraction of a second.
const SHORT_BITS: u64 = 4096;

/// `base` to the power `exponent`, modulo `modulus`.
fn power(
    cx: &Context<'_>,
    base: &BigUint,
    exponent: &BigUint,
    modulus: &BigUint,
) -> Result<BigUint> {
    let zero = BigUint::ZERO;
    if *modulus == zero {
        return Err(Fault::Math.into());
    }
    if modulus.bits() <= SHORT_BITS && modulus.bit(0) {
        return Ok(base.modpow(exponent, modulus));
    }
    // By digits of 32 bits, with a check for interrupts after each.
    let radix = BigUint::from(1u64 << 32);
    let mut result = BigUint::from(1u8) % modulus;
    for digit in exponent.to_u32_digits().into_iter().rev() {
        cx.check_interrupts()?;
        let shifted = result.modpow(&radix, modulus);
        result = shifted * base.modpow(&digit.into(), modulus) % modulus;
    }
    Ok(result)
}

/// `message` encrypted by the public key `[n, e]`.
pub(crate) fn rsa_encrypt(cx: &Context<'_>, key: &[Mpi], message: &Mpi) -> Result<Vec<Mpi>> {
    let [n, e] = key else { return Err(Fault::Internal.into()) };
    let message = message.number(cx)?;
    let (e, n) = (e.number(cx)?, n.number(cx)?);
    Ok(vec![Mpi::of(&power(cx, &message, &e, &n)?)?])
}

/// The message of `encrypted`, by the public key `[n, e]` and the secret key `[d, p, q, u]`.
pub(crate) fn rsa_decrypt(
    cx: &Context<'_>,
    key: &[Mpi],
    secret: &[Mpi],
    encrypted: &Mpi,
) -> Result<Mpi> {
    let ([n, _], [d, ..]) = (key, secret) else { return Err(Fault::Internal.into()) };
    let encrypted = encrypted.number(cx)?;
    let (d, n) = (d.number(cx)?, n.number(cx)?);
    Mpi::of(&power(cx, &encrypted, &d, &n)?)
}

/// The number of bits of ElGamal's random exponent: more than as many as the discrete logarithm
/// modulo a prime of `bits` is hard, and far fewer than `bits`, because the time depends on it.
fn exponent_bits(bits: usize) -> usize {
    if bits <= 5120 { bits / 10 + 160 } else { (bits / 8 + 200) * 3 / 2 }
}

/// A random number with this many bits.
fn random_number(cx: &Context<'_>, bits: usize) -> Result<BigUint> {
    let mut bytes = vec![0; bits.div_ceil(8)];
    cx.random_bytes(&mut bytes)?;
    let mut number = BigUint::from_bytes_be(&bytes) >> (bytes.len() * 8 - bits);
    number.set_bit(bits as u64 - 1, true);
    Ok(number)
}

/// `message` encrypted by the public key `[p, g, y]`.
pub(crate) fn elgamal_encrypt(cx: &Context<'_>, key: &[Mpi], message: &Mpi) -> Result<Vec<Mpi>> {
    let [p, g, y] = key else { return Err(Fault::Internal.into()) };
    let bits = exponent_bits(p.bits.into());
    let message = message.number(cx)?;
    let (p, g, y) = (p.number(cx)?, g.number(cx)?, y.number(cx)?);
    let k = random_number(cx, bits)?;
    let first = power(cx, &g, &k, &p)?;
    let second = message * power(cx, &y, &k, &p)? % &p;
    Ok(vec![Mpi::of(&first)?, Mpi::of(&second)?])
}

/// The message of `encrypted`, by the public key `[p, g, y]` and the secret key `[x]`.
pub(crate) fn elgamal_decrypt(
    cx: &Context<'_>,
    key: &[Mpi],
    secret: &[Mpi],
    encrypted: &[Mpi; 2],
) -> Result<Mpi> {
    let ([p, ..], [x]) = (key, secret) else { return Err(Fault::Internal.into()) };
    let [first, second] = encrypted;
    let (first, second) = (first.number(cx)?, second.number(cx)?);
    let (p, x) = (p.number(cx)?, x.number(cx)?);
    if p.bits() <= 1 {
        return Err(Fault::Math.into());
    }
    let inverse = power(cx, &first, &x, &p)?.modinv(&p).ok_or(Fault::Math)?;
    Mpi::of(&(second * inverse % &p))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Host;

    struct Idle;

    impl Host for Idle {
        fn random_bytes(&self, out: &mut [u8]) -> Result<()> {
            out.fill(0x5a);
            Ok(())
        }

        fn unix_seconds(&self) -> u32 {
            0
        }

        fn notice(&self, _: String) {}

        fn check_interrupts(&self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn powers_by_digits_are_those_of_one_step() {
        let cx = &Context { host: &Idle, verbose: false };
        let number = |byte: u8, bytes: usize| BigUint::from_bytes_be(&vec![byte; bytes]);
        // Even, and longer than the limit of one step.
        for modulus in [number(0xa6, 40), number(0x91, 600)] {
            for exponent in [BigUint::ZERO, number(1, 1), number(0xc3, 9), number(0x55, 16)] {
                let base = number(0x37, 50);
                let by_digits = power(cx, &base, &exponent, &modulus).ok();
                assert_eq!(by_digits, Some(base.modpow(&exponent, &modulus)));
            }
        }
        assert!(power(cx, &number(1, 1), &number(1, 1), &BigUint::ZERO).is_err());
    }

    #[test]
    fn random_exponents_have_their_number_of_bits() {
        let cx = &Context { host: &Idle, verbose: false };
        for bits in [1, 8, 9, 262, 263] {
            assert_eq!(random_number(cx, bits).expect("a number").bits(), bits as u64);
        }
    }
}
