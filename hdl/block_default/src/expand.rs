//! The code that the derive generates.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Field, Fields, Result, Type};

/// `impl Default` for a block, or `new` for one with arguments.
pub(crate) fn block_default(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "a block is a struct"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(&input.ident, "the fields of a block have names"));
    };
    let requirements = requirements(&input.attrs)?;
    let mut made = Vec::new();
    for field in &fields.named {
        let name = &field.ident;
        let expression = made_by(field)?;
        made.push(quote!(#name: #expression));
    }
    let body = quote! {
        #(::core::assert!(#requirements);)*
        Self { #(#made),* }
    };
    let name = &input.ident;
    let visibility = &input.vis;
    let (generics, parameters, bounds) = input.generics.split_for_impl();
    let new = one(&input.attrs, "new", "a block has one list of arguments")?;
    let Some(new) = new else {
        return Ok(quote! {
            #[automatically_derived]
            impl #generics ::core::default::Default for #name #parameters #bounds {
                fn default() -> Self { #body }
            }
        });
    };
    let arguments = tokens(new, "`#[new(NAME: TYPE)]`")?;
    Ok(quote! {
        #[automatically_derived]
        impl #generics #name #parameters #bounds {
            /// Makes the block from the arguments that its documentation describes.
            #visibility fn new(#arguments) -> Self { #body }
        }
    })
}

fn requirements(attributes: &[Attribute]) -> Result<Vec<TokenStream>> {
    let own = attributes.iter().filter(|a| a.path().is_ident("require"));
    own.map(|attribute| tokens(attribute, "`#[require(CONDITION, \"reason\")]`")).collect()
}

/// The expression that makes a field.
fn made_by(field: &Field) -> Result<TokenStream> {
    let value = one(&field.attrs, "value", "a field has one value")?;
    let ty = &field.ty;
    let Some(value) = value else {
        return match is_constant(ty) || entry(ty).is_some_and(is_constant) {
            true => Err(Error::new_spanned(
                ty,
                "a constant has no default: write `#[value(EXPR)]` above it",
            )),
            false => Ok(default_of(ty)),
        };
    };
    let value = tokens(value, "`#[value(EXPR)]`")?;
    // Errors point at the value; the names in the generated code are still the macro's.
    let span = Span::mixed_site().located_at(value.span());
    Ok(match entry(ty) {
        _ if is_constant(ty) => {
            quote_spanned!(span=> <#ty>::new(::core::convert::Into::into(#value)))
        }
        Some(entry) if is_constant(entry) => quote_spanned! {span=>
            ::core::array::from_fn(#value)
                .map(|value| <#entry>::new(::core::convert::Into::into(value)))
        },
        _ => value,
    })
}

/// The attribute of a name, if there is one; `error` if there are more.
fn one<'a>(attributes: &'a [Attribute], name: &str, error: &str) -> Result<Option<&'a Attribute>> {
    let mut own = attributes.iter().filter(|a| a.path().is_ident(name));
    match (own.next(), own.next()) {
        (_, Some(second)) => Err(Error::new_spanned(second, error)),
        (first, None) => Ok(first),
    }
}

/// What is between the parentheses of an attribute.
fn tokens(attribute: &Attribute, form: &str) -> Result<TokenStream> {
    let list = attribute.meta.require_list()?;
    match list.tokens.is_empty() {
        true => Err(Error::new_spanned(attribute, format!("write it as {form}"))),
        false => Ok(list.tokens.clone()),
    }
}

/// The default of a type; of an array, that of each entry, since the standard library has it for up
/// to 32 entries only.
fn default_of(ty: &Type) -> TokenStream {
    let span = Span::mixed_site().located_at(ty.span());
    match entry(ty) {
        Some(entry) => {
            let inner = default_of(entry);
            quote_spanned!(span=> ::core::array::from_fn(|_| #inner))
        }
        None => quote_spanned!(span=> <#ty as ::core::default::Default>::default()),
    }
}

/// The type of an array's entries.
fn entry(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Array(array) => Some(&array.elem),
        _ => None,
    }
}

fn is_constant(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|segment| segment.ident == "Constant")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(block: &str) -> String {
        let input = syn::parse_str(block).unwrap();
        block_default(&input).unwrap_err().to_string()
    }

    #[test]
    fn errors_say_what_to_write() {
        assert_eq!(
            error_of("struct Step { one: Constant<Bits<4>> }"),
            "a constant has no default: write `#[value(EXPR)]` above it"
        );
        assert_eq!(
            error_of("struct Step { ones: [prelude::Constant<Bits<4>>; 2] }"),
            "a constant has no default: write `#[value(EXPR)]` above it"
        );
        assert_eq!(
            error_of("struct Step { #[value(1)] #[value(2)] one: Constant<Bits<4>> }"),
            "a field has one value"
        );
        assert_eq!(
            error_of("struct Step { #[value()] one: Constant<Bits<4>> }"),
            "write it as `#[value(EXPR)]`"
        );
        assert_eq!(
            error_of("#[require()] struct Step { clock: Signal<In, Clock> }"),
            "write it as `#[require(CONDITION, \"reason\")]`"
        );
        assert_eq!(
            error_of("#[new()] struct Step { clock: Signal<In, Clock> }"),
            "write it as `#[new(NAME: TYPE)]`"
        );
        assert_eq!(
            error_of("#[new(one: u64)] #[new(two: u64)] struct Step {}"),
            "a block has one list of arguments"
        );
        assert_eq!(error_of("enum Step { One }"), "a block is a struct");
        assert_eq!(error_of("struct Step(Constant<Bits<4>>);"), "the fields of a block have names");
        assert!(error_of("struct Step { #[value] one: Bits<4> }").contains("parentheses"));
    }

    #[test]
    fn values_become_constants_others_stay() {
        let input = syn::parse_str(
            "#[require(N > 1, \"two\")]
             struct Step<T: Synth, const N: usize> where T: Copy {
                #[value(1)] one: Constant<Bits<4>>,
                #[value(Child::new(2))] child: Child,
                other: [DFF<T>; N],
             }",
        );
        let wanted = quote! {
            #[automatically_derived]
            impl<T: Synth, const N: usize> ::core::default::Default for Step<T, N> where T: Copy {
                fn default() -> Self {
                    ::core::assert!(N > 1, "two");
                    Self {
                        one: <Constant<Bits<4> > >::new(::core::convert::Into::into(1)),
                        child: Child::new(2),
                        other: ::core::array::from_fn(
                            |_| <DFF<T> as ::core::default::Default>::default()
                        )
                    }
                }
            }
        };
        let squeeze = |code: TokenStream| code.to_string().replace(' ', "");
        assert_eq!(squeeze(block_default(&input.unwrap()).unwrap()), squeeze(wanted));
    }
}
