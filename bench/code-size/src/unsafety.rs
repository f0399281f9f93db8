//! Finds the unsafe lines of a Rust file.

use std::collections::BTreeSet;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The numbers, from 1, of the lines of `unsafe` blocks, functions, impls and traits, including their first and last lines.
pub fn unsafe_lines(text: &str) -> syn::Result<BTreeSet<usize>> {
    let file = syn::parse_file(text)?;
    let mut found = Unsafe::default();
    found.visit_file(&file);
    Ok(found.lines)
}

#[derive(Default)]
struct Unsafe {
    lines: BTreeSet<usize>,
}

impl Unsafe {
    fn add(&mut self, from: Span, to: Span) {
        self.lines.extend(from.start().line..=to.end().line);
    }
}

impl<'ast> Visit<'ast> for Unsafe {
    fn visit_expr_unsafe(&mut self, node: &'ast syn::ExprUnsafe) {
        self.add(node.unsafe_token.span(), node.block.span());
        visit::visit_expr_unsafe(self, node);
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        // From the signature, because attributes and documentation are not unsafe.
        if node.sig.unsafety.is_some() {
            self.add(node.sig.span(), node.block.span());
        }
        visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        if node.sig.unsafety.is_some() {
            self.add(node.sig.span(), node.block.span());
        }
        visit::visit_impl_item_fn(self, node);
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        if let Some(token) = &node.unsafety {
            self.add(token.span(), node.brace_token.span.close());
        }
        visit::visit_item_impl(self, node);
    }

    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        if let Some(token) = &node.unsafety {
            self.add(token.span(), node.brace_token.span.close());
        }
        visit::visit_item_trait(self, node);
    }

    fn visit_item_foreign_mod(&mut self, node: &'ast syn::ItemForeignMod) {
        // Calls of foreign functions are unsafe, and the compiler trusts their declarations.
        self.add(node.abi.span(), node.brace_token.span.close());
        visit::visit_item_foreign_mod(self, node);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn blocks_functions_impls_and_foreign_functions_count_with_their_first_and_last_lines() {
        for (text, expected) in [
            ("fn f() {\n    let x = 1;\n    unsafe {\n        g();\n    }\n}\n", &[3, 4, 5][..]),
            ("/// Doc.\n#[inline]\npub unsafe extern \"C\" fn f(\n    a: u8,\n) {\n}\nfn safe() {}\n", &[3, 4, 5, 6]),
            ("unsafe fn f() {\n    unsafe { g() }\n}\n", &[1, 2, 3]),
            ("struct S;\nunsafe impl Send for S {}\n", &[2]),
            ("unsafe extern \"C\" {\n    fn f();\n}\n", &[1, 2, 3]),
            ("// unsafe {\nconst A: &str = \"unsafe {\";\n", &[]),
        ] {
            assert!(unsafe_lines(text).unwrap().iter().eq(expected), "{text}");
        }
        assert!(unsafe_lines("fn {").is_err());
    }
}
