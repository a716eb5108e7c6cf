//! Locales and number formats: the data that the JDK reads from resources, for English.

use crate::classes::LoweringError;
use crate::lower::builder::{Builder, int, long};
use crate::lower::context::Lowering;
use touchstone_ir::{BranchRole, CmpOp, Operand};

impl Lowering {
    /// Lowers methods of locales and number formats; returns false for other methods.
    pub fn locale_native(
        &mut self,
        b: &mut Builder,
        class: &str,
        name: &str,
        desc: &str,
    ) -> Result<bool, LoweringError> {
        match (class, name) {
            // All categories use one locale; the default is computed once.
            ("java/util/Locale", "initDefault") if desc.starts_with("(Ljava/util/Locale$Category;)") => {
                let default = ("java/util/Locale", "getDefault", "()Ljava/util/Locale;");
                let locale = self.call_jdk(b, default, vec![])?;
                b.ret(Some(locale));
            }
            ("java/text/DecimalFormatSymbols", "getInstance") if desc.starts_with("(L") => {
                let locale = b.param(0);
                self.null_check(b, locale);
                let symbols = self.number_symbols(b, locale)?;
                b.ret(Some(symbols));
            }
            ("java/text/NumberFormat", "getInstance") if desc.ends_with("I)Ljava/text/NumberFormat;") => {
                let (locale, choice) = (b.param(0), b.param(2));
                let other = b.block();
                let plain = b.cmp(CmpOp::Eq, choice, int(0));
                b.check(plain, other);
                let symbols = self.number_symbols(b, locale)?;
                const FORMAT: &str = "java/text/DecimalFormat";
                let class = self.jdk(FORMAT)?;
                self.ensure_init(b, class);
                let object = self.allocate(b, class);
                let object = b.copied(object);
                let pattern = self.literal(b, "#,##0.###");
                let make = (FORMAT, "<init>", "(Ljava/lang/String;Ljava/text/DecimalFormatSymbols;)V");
                self.call_jdk(b, make, vec![object, pattern, symbols])?;
                b.ret(Some(object));
                b.at(other);
                b.unsupported("a number format other than the usual one");
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the number symbols of English, which the JDK reads from resources; other languages are unsupported.
    fn number_symbols(&mut self, b: &mut Builder, locale: Operand) -> Result<Operand, LoweringError> {
        let language = ("java/util/Locale", "getLanguage", "()Ljava/lang/String;");
        let language = self.call_jdk(b, language, vec![locale])?;
        let (found, other) = (b.block(), b.block());
        for known in ["en", ""] {
            let literal = self.literal(b, known);
            let equals = ("java/lang/String", "equals", "(Ljava/lang/Object;)Z");
            let same = self.call_jdk(b, equals, vec![literal, language])?;
            let same = b.cmp(CmpOp::Ne, same, int(0));
            let next = b.block();
            b.branch(same, found, next, BranchRole::Check);
            b.at(next);
        }
        b.jump(other);
        b.at(other);
        b.unsupported("number formats of other languages than English");
        b.at(found);
        let class = self.jdk("java/text/DecimalFormatSymbols")?;
        self.ensure_init(b, class);
        let object = self.allocate(b, class);
        let object = b.copied(object);
        let texts = [
            ("infinity", "∞"),
            ("NaN", "NaN"),
            ("exponentialSeparator", "E"),
            ("perMillText", "‰"),
            ("percentText", "%"),
            ("minusSignText", "-"),
        ];
        for (field, text) in texts {
            if let Some(place) = self.classes.field_named(class, field).cloned() {
                let text = self.literal(b, text);
                b.store(object, place.offset as i64, text);
            }
        }
        let characters = [
            ("zeroDigit", '0'),
            ("groupingSeparator", ','),
            ("decimalSeparator", '.'),
            ("perMill", '‰'),
            ("percent", '%'),
            ("digit", '#'),
            ("patternSeparator", ';'),
            ("minusSign", '-'),
            ("exponential", 'E'),
            ("monetarySeparator", '.'),
            ("monetaryGroupingSeparator", ','),
        ];
        for (field, character) in characters {
            if let Some(place) = self.classes.field_named(class, field).cloned() {
                let at = b.add(object, long(place.offset as i64));
                b.store_as(at, &place.desc, int(character as i32));
            }
        }
        for (field, value) in [("locale", locale)] {
            if let Some(place) = self.classes.field_named(class, field).cloned() {
                b.store(object, place.offset as i64, value);
            }
        }
        Ok(object)
    }
}
