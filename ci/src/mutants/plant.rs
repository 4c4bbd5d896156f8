//! Many mutants in one text, each behind a switch.
//!
//! ```text
//!   a < b      (if crate::planted::is_on(7) { a <= b } else { a < b })
//!   f();       if crate::planted::is_on(8) { } else { f(); }
//!   kernel     the kernel of each mutant beside it; `Logic` calls the one that is switched on,
//!              and tells the emitter of all: its Verilog chooses by the same switch
//! ```
//! With all switches off a text does what the original does. A place may hold several mutants, and
//! further places: these are in the original's branch, as one mutant is on at a time.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, ItemImpl};

use super::mutant::{Mutant, Place};

/// A text with mutants, and where in it each one is.
#[derive(Debug, Default)]
pub struct Planted {
    /// The text.
    pub text: String,
    /// Numbers of the switches at a range of bytes of the text.
    ranges: Vec<(Range<usize>, Vec<u32>)>,
}

/// The mutants of one place: what stands there with each, by the number of its switch.
type Variants = Vec<(u32, String)>;

/// Places in the order in which they begin, an outer one before those inside.
type Places = BTreeMap<(usize, Reverse<usize>), Variants>;

/// `text` with those mutants behind switches for which one can stand.
pub fn plant(text: &str, mutants: &[(u32, &Mutant)]) -> Planted {
    let (mut places, mut kernels) = (Places::new(), Places::new());
    for (switch, mutant) in mutants {
        let Some((range, variant)) = variant(text, *switch, mutant) else { continue };
        let of_kind = match mutant.place {
            Place::Kernel(_) => &mut kernels,
            _ => &mut places,
        };
        let key = (range.start, Reverse(range.end));
        of_kind.entry(key).or_default().push((*switch, variant));
    }
    let mut planted = Planted::default();
    let mut at = 0;
    for ((start, Reverse(end)), variants) in kernels {
        planted.write(text, at..start, &places);
        planted.write_kernel(&text[start..end], &variants);
        at = end;
    }
    planted.write(text, at..text.len(), &places);
    planted
}

/// Whether a switch can stand for a mutant of `text`.
pub fn has_switch(text: &str, mutant: &Mutant) -> bool {
    variant(text, 1, mutant).is_some()
}

/// The place of a mutant's switch, and what stands there with the mutant, on one line.
fn variant(text: &str, switch: u32, mutant: &Mutant) -> Option<(Range<usize>, String)> {
    match &mutant.place {
        Place::Expression(range, other) => {
            let other = syn::parse_str::<Expr>(other).ok()?;
            Some((range.clone(), other.to_token_stream().to_string()))
        }
        Place::Statement => Some((mutant.bytes.clone(), String::new())),
        Place::Kernel(range) => {
            let (head, tail) = (range.start..mutant.bytes.start, mutant.bytes.end..range.end);
            let other = format!("{}{}{}", &text[head], mutant.replacement, &text[tail]);
            let mut other = syn::parse_str::<ItemImpl>(&other).ok()?;
            other.attrs.clear();
            let path = format!("crate::planted_kernels::Kernel<{switch}>");
            other.trait_.as_mut()?.0 = syn::parse_str(&path).ok()?;
            Some((range.clone(), other.to_token_stream().to_string()))
        }
        Place::Nowhere => None,
    }
}

impl Planted {
    /// The switches around a byte of the text: those of the shortest range.
    pub fn at(&self, byte: usize) -> &[u32] {
        let around = self.ranges.iter().filter(|(range, _)| range.contains(&byte));
        let least = around.min_by_key(|(range, _)| range.len());
        least.map_or(&[], |(_, switches)| switches)
    }

    /// Notes that what was written since `start` is of some mutants.
    fn note(&mut self, start: usize, switches: Vec<u32>) {
        self.ranges.push((start..self.text.len(), switches));
    }

    /// Writes `range` of a text with the places in it.
    fn write(&mut self, text: &str, range: Range<usize>, places: &Places) {
        let mut at = range.start;
        for ((start, Reverse(end)), variants) in places {
            let is_written = *start < at;
            if is_written || *end > range.end {
                continue;
            }
            self.text += &text[at..*start];
            self.write_place(text, *start..*end, variants, places);
            at = *end;
        }
        self.text += &text[at..range.end];
    }

    fn write_place(
        &mut self,
        text: &str,
        range: Range<usize>,
        variants: &Variants,
        places: &Places,
    ) {
        let all = self.text.len();
        let mut inner = places.clone();
        inner.remove(&(range.start, Reverse(range.end)));
        inner.retain(|(start, end), _| range.start <= *start && end.0 <= range.end);
        let is_statement = variants.iter().all(|(_, variant)| variant.is_empty());
        self.text += if is_statement { "" } else { "(" };
        for (switch, variant) in variants {
            let from = self.text.len();
            self.text += &format!("if crate::planted::is_on({switch}) {{ {variant} }} else ");
            self.note(from, vec![*switch]);
        }
        self.text += "{ ";
        self.write(text, range, &inner);
        self.text += if is_statement { " }" } else { " })" };
        self.note(all, variants.iter().map(|(switch, _)| *switch).collect());
    }

    /// Writes an `impl` of `Logic` as it is, but for another trait, and behind it those with a
    /// fault and the choice between them.
    fn write_kernel(&mut self, original: &str, variants: &Variants) {
        let all = self.text.len();
        let item = syn::parse_str::<ItemImpl>(original).ok();
        let named = item.as_ref().and_then(|item| item.trait_.as_ref());
        let (Some(item), Some((name, _))) = (&item, named) else {
            self.text += original;
            return;
        };
        let name = name.span().byte_range();
        self.text += &original[..name.start];
        self.text += "crate::planted_kernels::original::Logic";
        self.text += &original[name.end..];
        for (switch, variant) in variants {
            let from = self.text.len();
            self.text += &format!(" {variant}");
            self.note(from, vec![*switch]);
        }
        self.text += &choice(item, variants);
        self.note(all, variants.iter().map(|(switch, _)| *switch).collect());
    }
}

/// `Logic` of a block, which calls the kernel that is switched on. Beside its code stand all of
/// them, for the emitter.
fn choice(item: &ItemImpl, variants: &Variants) -> String {
    let switches: Vec<u32> = variants.iter().map(|(switch, _)| *switch).collect();
    let call = |method: &str| {
        let arm = |switch: &u32| {
            format!("{switch} => crate::planted_kernels::Kernel::<{switch}>::{method}(self), ")
        };
        let arms: String = switches.iter().map(arm).collect();
        format!(
            "{{ match crate::planted::on(&{switches:?}) {{ {arms}_ => \
             crate::planted_kernels::original::Logic::{method}(self) }} }}"
        )
    };
    let variant = |switch: &u32| {
        format!("({switch}, crate::planted_kernels::Kernel::<{switch}>::hdl(self)), ")
    };
    let all: String = switches.iter().map(variant).collect();
    let (parameters, _, limits) = item.generics.split_for_impl();
    format!(
        " impl{} Logic for {} {} {{ fn update(&mut self) {} fn connect(&mut self) {} \
         fn hdl(&self) -> rust_hdl_core::ast::Verilog {{ crate::planted_kernels::beside(self, {}, \
         crate::planted_kernels::original::Logic::hdl(self), &|| vec![{all}]) }} \
         fn timing(&self) -> Vec<rust_hdl_core::timing::TimingInfo> {} }}",
        parameters.to_token_stream(),
        item.self_ty.to_token_stream(),
        limits.to_token_stream(),
        call("update"),
        call("connect"),
        call("hdl"),
        call("timing")
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::mutants::generate;

    /// A text with all its mutants behind switches from 1 on, and these.
    fn plant_all(text: &str) -> (Planted, Vec<Mutant>) {
        let mutants = generate::mutants(Path::new("a.rs"), text, false).expect("Rust");
        let numbered: Vec<(u32, &Mutant)> = (1..).zip(&mutants).collect();
        let planted = plant(text, &numbered);
        syn::parse_file(&planted.text).expect("it stays Rust");
        (planted, mutants)
    }

    #[test]
    fn an_expression_is_chosen_by_switches() {
        let (planted, _) = plant_all("fn f() {\ng(a < b)\n}");
        let expected = "fn f() {\ng((if crate::planted::is_on(1) { a <= b } else \
                        if crate::planted::is_on(2) { a > b } else { a < b }))\n}";
        assert_eq!(planted.text, expected);
    }

    #[test]
    fn switch_omits_a_statement() {
        let (planted, _) = plant_all("fn f() {\ng(a);\n}");
        let expected = "fn f() {\nif crate::planted::is_on(1) {  } else { g(a); }\n}";
        assert_eq!(planted.text, expected);
    }

    #[test]
    fn nested_mutant_goes_into_original_branch() {
        let (planted, mutants) = plant_all("fn f() {\nif a + 1 < 2 { g() }\n}");
        assert_eq!(planted.text.matches("{ a + 1 <= 2 }").count(), 1);
        for switch in 1..=mutants.len() {
            let call = format!("is_on({switch})");
            assert_eq!(planted.text.matches(&call).count(), 1, "{}", planted.text);
        }
    }

    /// Other operators group as they do in the line that a report shows.
    #[test]
    fn operators_group_as_in_the_text() {
        let (planted, _) = plant_all("fn f() {\na * b / c\n}");
        assert!(planted.text.contains("{ a + b / c }"), "{}", planted.text);
    }

    #[test]
    fn half_open_range_ends_one_later() {
        let (planted, _) = plant_all("fn f() {\nfor i in a..b { g() }\n}");
        let expected = "a..(if crate::planted::is_on(1) { (b) + 1 } else { b })";
        assert!(planted.text.contains(expected), "{}", planted.text);
    }

    #[test]
    fn compile_time_value_has_no_switch() {
        let text = "const A: u32 = 5;\nconst fn f() -> u32 { 6 }\nstatic B: u32 = 7;";
        let (planted, mutants) = plant_all(text);
        assert_eq!((planted.text.as_str(), mutants.len()), (text, 6));
        assert!(mutants.iter().all(|mutant| !has_switch(text, mutant)));
    }

    #[test]
    fn byte_leads_to_surrounding_mutants() {
        let (planted, mutants) = plant_all("fn f() {\nif a + 1 < 2 { g() }\nh()\n}");
        let at = |text: &str| planted.text.find(text).expect("it is there");
        let second = planted.at(at("is_on(2)"));
        assert_eq!(second, [2]);
        assert!(planted.at(at("h()")).is_empty());
        assert!(planted.at(at("{ a + 1 <= 2 }")).len() == 1, "{mutants:?}");
    }

    #[test]
    fn kernel_stands_beside_faulty_ones() {
        let text = "/// Doc.\nimpl<const N: usize> Logic for A<N> {\n    #[hdl_gen]\n    \
                    fn update(&mut self) {\n        self.a.next = 1.into(); // why\n    }\n}\n\
                    fn f() { 2 }\n";
        let (planted, mutants) = plant_all(text);
        assert_eq!(mutants.len(), 5, "{mutants:?}");
        let text = &planted.text;
        let original = "impl<const N: usize> crate::planted_kernels::original::Logic for A<N> {\n";
        assert!(text.contains(original), "{text}");
        assert!(text.contains("self . a . next = 0 . into ()"), "{text}");
        assert!(text.contains("impl< const N : usize > Logic for A < N >"), "{text}");
        assert_eq!(text.matches("crate::planted::on(&[1, 2, 3])").count(), 4);
        assert!(text.contains("is_on(4) { 1 }"), "{text}");
    }
}
