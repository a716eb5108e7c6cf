//! Start and end of a program, and the state that the JDK's own start-up leaves.

use crate::classes::layout::ARRAY_BASE_OFFSET;
use crate::classes::{ClassId, LoweringError, MethodRef};
use crate::classfile::access;
use crate::lower::builder::{Builder, NULL, int, long};
use crate::lower::context::Lowering;
use crate::lower::symbols::{FuncKind, GlobalKind};
use touchstone_ir::{BinOp, BranchRole, Builtin, CastOp, CmpOp, JavaBuiltin, Operand, Ty};

const STRING: &str = "Ljava/lang/String;";

/// Returns the system properties that the JDK's code reads.
fn properties(release: u32, language: &str, country: &str) -> Vec<(&'static str, String)> {
    let class_version = (release + 44).to_string();
    let release = release.to_string();
    let text = |text: &str| text.to_string();
    vec![
        ("java.specification.version", release.clone()),
        ("java.version", release.clone()),
        ("java.runtime.version", release.clone()),
        ("java.vm.specification.version", release),
        ("java.class.version", class_version),
        ("java.home", text("/")),
        ("java.class.path", text("")),
        ("java.library.path", text("")),
        ("java.io.tmpdir", text("/tmp")),
        ("java.vendor", text("Touchstone")),
        ("java.vm.name", text("Touchstone")),
        ("java.vm.info", text("")),
        ("java.vm.vendor", text("Touchstone")),
        ("java.vm.version", text("1")),
        ("java.runtime.name", text("Touchstone")),
        ("line.separator", text("\n")),
        ("file.separator", text("/")),
        ("path.separator", text(":")),
        ("file.encoding", text("UTF-8")),
        ("sun.jnu.encoding", text("UTF-8")),
        ("native.encoding", text("UTF-8")),
        ("stdin.encoding", text("UTF-8")),
        ("stdout.encoding", text("UTF-8")),
        ("stderr.encoding", text("UTF-8")),
        ("sun.boot.library.path", text("")),
        ("user.dir", text("/")),
        ("user.home", text("/")),
        ("user.name", text("user")),
        ("user.language", text(language)),
        ("user.country", text(country)),
        ("user.timezone", text("UTC")),
        ("os.name", text("Linux")),
        ("os.arch", text("amd64")),
        ("os.version", text("6")),
    ]
}

impl Lowering {
    /// Writes a static field of a JDK class, if the field exists.
    fn set_static(&mut self, b: &mut Builder, class: ClassId, name: &str, value: Operand) {
        if let Some(field) = self.classes.static_named(class, name) {
            let (_, desc) = self.classes.static_field(field);
            let place = self.global_id(GlobalKind::Static(field));
            let place = b.global(place);
            b.store_as(place, &desc, value);
        }
    }

    /// Lowers the replacement of a class initialiser; returns false if there is none.
    pub fn lower_intrinsic_initialiser(&mut self, b: &mut Builder, class: ClassId) -> Result<bool, LoweringError> {
        match &*self.classes.get(class).name.clone() {
            "java/lang/System" => self.init_system(b, class)?,
            // Their initialisers start threads or call into the JVM.
            "java/lang/Thread" | "java/lang/ref/Reference" | "java/lang/ref/Finalizer" => {}
            "java/util/concurrent/ForkJoinPool" => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn init_system(&mut self, b: &mut Builder, class: ClassId) -> Result<(), LoweringError> {
        if let Some(access) = self.classes.declared(class, "setJavaLangAccess", "()V") {
            self.call_method(b, access, vec![]);
        }
        let separator = self.literal(b, "\n");
        self.set_static(b, class, "lineSeparator", separator);
        let helper = self.func(FuncKind::Helper("properties"));
        b.call(helper, vec![], None);
        for (field, name) in [("out", "stdout"), ("err", "stderr")] {
            let stream = self.global_id(GlobalKind::Named(name));
            let stream = b.global(stream);
            self.set_static(b, class, field, stream);
        }
        let helper = self.func(FuncKind::Helper("stdin"));
        b.call(helper, vec![], None);
        Ok(())
    }

    pub fn system_helper(&mut self, b: &mut Builder, name: &str) -> Result<(), LoweringError> {
        let system = self.jdk("java/lang/System")?;
        match name {
            "system" => self.initialise_core_classes(b)?,
            "properties" => {
                const CLASS: &str = "java/util/Properties";
                let class = self.jdk(CLASS)?;
                self.ensure_init(b, class);
                let object = self.allocate(b, class);
                self.call_jdk(b, (CLASS, "<init>", "()V"), vec![object])?;
                let set = format!("({STRING}{STRING})Ljava/lang/Object;");
                let (language, country) = self.locale.clone();
                for (key, value) in properties(self.release, &language, &country) {
                    let (key, value) = (self.literal(b, key), self.literal(b, &value));
                    self.call_jdk(b, (CLASS, "setProperty", &set), vec![object, key, value])?;
                }
                self.set_static(b, system, "props", object);
            }
            "stdin" => {
                let file = self.jdk("java/io/FileInputStream")?;
                let descriptor = self.jdk("java/io/FileDescriptor")?;
                self.ensure_init(b, descriptor);
                self.ensure_init(b, file);
                let field = self.classes.static_named(descriptor, "in");
                let field = field.ok_or_else(|| LoweringError::NoField("java/io/FileDescriptor.in".to_string()))?;
                let place = self.global_id(GlobalKind::Static(field));
                let place = b.global(place);
                let fd = b.load(place, 0, Ty::Ptr);
                let object = self.allocate(b, file);
                let make = ("java/io/FileInputStream", "<init>", "(Ljava/io/FileDescriptor;)V");
                self.call_jdk(b, make, vec![object, fd])?;
                let buffered = self.jdk("java/io/BufferedInputStream")?;
                self.ensure_init(b, buffered);
                let outer = self.allocate(b, buffered);
                let make = ("java/io/BufferedInputStream", "<init>", "(Ljava/io/InputStream;)V");
                self.call_jdk(b, make, vec![outer, object])?;
                self.set_static(b, system, "in", outer);
            }
            name => return Err(LoweringError::Unsupported(name.to_string())),
        }
        b.ret(None);
        Ok(())
    }

    /// Initialises the classes of objects that exist before any code runs.
    fn initialise_core_classes(&mut self, b: &mut Builder) -> Result<(), LoweringError> {
        for class in ["java/lang/String", "java/lang/Class", "java/lang/Thread", "java/lang/System"] {
            let class = self.jdk(class)?;
            self.ensure_init(b, class);
        }
        Ok(())
    }

    /// Returns the `main` method of a program.
    pub fn main_method(&self, class: ClassId) -> Option<MethodRef> {
        let own = |desc| self.classes.find_method(class, "main", desc);
        let found = own("([Ljava/lang/String;)V").filter(|method| self.classes.method(*method).is(access::STATIC));
        if self.release < 25 {
            return found;
        }
        found.or_else(|| own("([Ljava/lang/String;)V")).or_else(|| own("()V"))
    }

    pub fn main(&mut self, b: &mut Builder, class: ClassId) -> Result<(), LoweringError> {
        let main = self.main_method(class);
        let main = main.ok_or_else(|| LoweringError::NoMethod(format!("{}.main", self.classes.get(class).title())))?;
        let thrown = b.reg(Ty::Ptr);
        let landing = b.block();
        self.initialise_core_classes(b)?;
        b.landing_pad = Some((thrown, landing));
        self.ensure_init(b, class);
        let mut args = Vec::new();
        if !self.classes.method(main).is(access::STATIC) {
            let object = self.allocate(b, class);
            if let Some(make) = self.classes.declared(class, "<init>", "()V") {
                self.call_method(b, make, vec![object]);
            }
            args.push(object);
        }
        if self.signature(main).0.len() > args.len() {
            let arguments = self.global_id(GlobalKind::Arguments);
            args.push(b.global(arguments));
        }
        self.call_method(b, main, args);
        b.ret(None);
        b.landing_pad = None;
        b.at(landing);
        self.report_uncaught(b, Operand::Reg(thrown))
    }

    /// Prints an uncaught exception and exits.
    fn report_uncaught(&mut self, b: &mut Builder, thrown: Operand) -> Result<(), LoweringError> {
        let head = self.literal(b, "Exception in thread \"main\" ");
        self.write_string(b, int(2), head)?;
        self.print_exception(b, thrown)?;
        b.builtin(Builtin::Exit, vec![int(1)], None);
        Ok(())
    }

    /// Prints an exception and its causes to standard error.
    pub fn print_exception(&mut self, b: &mut Builder, thrown: Operand) -> Result<(), LoweringError> {
        let text = ("java/lang/Throwable", "toString", "()Ljava/lang/String;");
        let text = self.call_virtual(b, text, vec![thrown])?;
        self.write_string(b, int(2), text)?;
        let end = self.literal(b, "\n");
        self.write_string(b, int(2), end)?;
        self.print_causes(b, thrown)
    }

    /// Prints the causes of an exception.
    fn print_causes(&mut self, b: &mut Builder, thrown: Operand) -> Result<(), LoweringError> {
        let last = b.reg(Ty::Ptr);
        b.copy(last, thrown);
        let (head, next, told, done) = (b.block(), b.block(), b.block(), b.block());
        b.jump(head);
        b.at(head);
        let get = ("java/lang/Throwable", "getCause", "()Ljava/lang/Throwable;");
        let cause = self.call_virtual(b, get, vec![Operand::Reg(last)])?;
        let there = b.cmp(CmpOp::Ne, cause, NULL);
        b.branch(there, next, done, BranchRole::Check);
        b.at(next);
        let other = b.cmp(CmpOp::Ne, cause, Operand::Reg(last));
        b.branch(other, told, done, BranchRole::Check);
        b.at(told);
        b.copy(last, cause);
        let head_text = self.literal(b, "Caused by: ");
        self.write_string(b, int(2), head_text)?;
        let text = ("java/lang/Throwable", "toString", "()Ljava/lang/String;");
        let text = self.call_virtual(b, text, vec![cause])?;
        self.write_string(b, int(2), text)?;
        let end = self.literal(b, "\n");
        self.write_string(b, int(2), end)?;
        b.jump(head);
        b.at(done);
        Ok(())
    }

    /// Writes the characters in an array of bytes or characters.
    pub fn write_array(&mut self, b: &mut Builder, stream: Operand, array: Operand, coder: Operand, shift: i64) {
        let length = self.array_length(b, array);
        let length = b.cast(CastOp::Zext, Ty::I64, length);
        let length = b.bin(BinOp::Shl, length, long(shift));
        let first = b.add(array, long(ARRAY_BASE_OFFSET));
        b.builtin(Builtin::Java(JavaBuiltin::WriteText), vec![stream, first, length, coder], None);
    }

    /// Writes a string that is not null to a stream: 1 is standard output, 2 standard error.
    pub fn write_string(&mut self, b: &mut Builder, stream: Operand, string: Operand) -> Result<(), LoweringError> {
        let class = self.jdk("java/lang/String")?;
        let field = |name| self.classes.field_named(class, name).cloned();
        let (Some(value), Some(coder)) = (field("value"), field("coder")) else {
            return Err(LoweringError::NoField("java/lang/String.value".to_string()));
        };
        let bytes = b.load(string, value.offset as i64, Ty::Ptr);
        let place = b.add(string, long(coder.offset as i64));
        let coder = b.load_as(place, &coder.desc);
        self.write_array(b, stream, bytes, coder, 0);
        Ok(())
    }
}
