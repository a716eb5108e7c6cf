//! Round trips over generated modules, errors of hand-written texts, and thousands of damaged texts.

use super::words::Word;
use crate::*;
use proptest::collection::vec;
use proptest::prelude::*;
use touchstone_base::float::{FloatOp, Format};
use touchstone_base::{FileId, Id, IndexMap, Span};

// Generated modules. Ids may be out of range: the text form does not care.

fn name() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a-z][a-z0-9_.]{0,5}", 1 => "f[0-9]{1,2}", 1 => any::<String>(), 1 => "[\"\\\\\n\t\r\0;@{}é]{0,4}"]
}

fn span() -> impl Strategy<Value = Span> {
    let number = || prop_oneof![Just(0u32), 0..200u32, Just(u32::MAX - 1)];
    prop_oneof![
        Just(Span::none()),
        (0..3usize, number(), number()).prop_map(|(file, line, column)| Span::at(FileId::new(file), line, column)),
        (0..3usize, number(), number(), number(), number()).prop_map(|(file, line, column, end_line, end_column)| {
            Span { file: FileId::new(file), line, column, end_line, end_column }
        }),
    ]
}

fn id<I: Id + std::fmt::Debug>() -> impl Strategy<Value = I> {
    prop_oneof![9 => 0..8usize, 1 => Just(4_000_000_000)].prop_map(I::new)
}

fn one_of<W: Word + std::fmt::Debug>() -> impl Strategy<Value = W> {
    proptest::sample::select(W::ALL)
}

fn ty() -> impl Strategy<Value = Ty> {
    proptest::sample::select(vec![Ty::I1, Ty::I8, Ty::I16, Ty::I32, Ty::I64, Ty::Ptr])
}

fn size() -> impl Strategy<Value = u64> {
    prop_oneof![0..100u64, any::<u64>()]
}

fn struct_kind() -> impl Strategy<Value = StructKind> {
    let counted = size().prop_map(|by| StructKind::Counted { by: by as usize });
    prop_oneof![Just(StructKind::Record), Just(StructKind::Halves), counted]
}

fn data_type() -> impl Strategy<Value = DataType> {
    let bits = || proptest::sample::select(vec![8u8, 16, 32, 64]);
    let item = (name(), any::<i64>()).prop_map(|(name, value)| EnumItem { name, value });
    let field = (name(), size(), id()).prop_map(|(name, offset, ty)| Field { name, offset, ty });
    let member = (name(), id()).prop_map(|(name, ty)| Field { name, offset: 0, ty });
    prop_oneof![
        Just(DataType::Void),
        (name(), bits(), any::<bool>(), one_of()).prop_map(|(name, bits, signed, kind)| DataType::Int {
            name,
            bits,
            signed,
            kind
        }),
        name().prop_map(|name| DataType::Bool { name }),
        (name(), one_of()).prop_map(|(name, format)| DataType::Float { name, format }),
        (name(), bits(), any::<bool>(), vec(item, 0..4)).prop_map(|(name, bits, signed, items)| DataType::Enum {
            name,
            bits,
            signed,
            items
        }),
        (0..8u8, 1..57u8, any::<bool>()).prop_map(|(first, width, signed)| DataType::Bits { first, width, signed }),
        (id(), any::<bool>()).prop_map(|(pointee, to_const)| DataType::Pointer { pointee, to_const }),
        (id(), size()).prop_map(|(element, length)| DataType::Array { element, length }),
        (name(), vec(field, 0..4), size(), size(), struct_kind())
            .prop_map(|(name, fields, size, align, kind)| DataType::Struct { name, fields, size, align, kind }),
        (name(), vec(member, 0..4), size(), size()).prop_map(|(name, members, size, align)| DataType::Union {
            name,
            members,
            size,
            align
        }),
        (name(), size(), bits(), vec((any::<u64>(), id()), 0..4)).prop_map(|(name, offset, bits, variants)| {
            let variants = variants.into_iter().map(|(tag, ty)| TaggedVariant { tag, ty }).collect();
            DataType::OneOf { name, tag: VariantTag { offset, bits }, variants }
        }),
        (name(), size(), size()).prop_map(|(name, size, align)| DataType::Opaque { name, size, align }),
    ]
}

fn global() -> impl Strategy<Value = Global> {
    let piece = prop_oneof![
        (size(), vec(any::<u8>(), 0..20)).prop_map(|(offset, bytes)| Init::Bytes { offset, bytes }),
        (size(), id(), any::<i64>()).prop_map(|(offset, global, addend)| Init::GlobalAddr { offset, global, addend }),
    ];
    let init = proptest::option::of(vec(piece, 0..4));
    let function = proptest::option::of(id());
    let roles = (one_of(), proptest::option::of(name()));
    (name(), span(), id(), size(), any::<bool>(), one_of(), roles, function, init).prop_map(
        |(name, span, data, size, constant, linkage, (role, display_name), function, init)| Global {
            name,
            span,
            data,
            size,
            constant,
            linkage,
            role,
            display_name,
            function,
            init,
        },
    )
}

fn tree() -> impl Strategy<Value = BoolTree> {
    let leaf = prop_oneof![id().prop_map(BoolTree::Cond), any::<bool>().prop_map(BoolTree::Const)];
    leaf.prop_recursive(4, 20, 3, |part| {
        let part = part.prop_map(Box::new);
        prop_oneof![
            part.clone().prop_map(BoolTree::Not),
            (part.clone(), part.clone()).prop_map(|(a, b)| BoolTree::And(a, b)),
            (part.clone(), part.clone()).prop_map(|(a, b)| BoolTree::Or(a, b)),
            (part.clone(), part.clone()).prop_map(|(a, b)| BoolTree::Xor(a, b)),
            (part.clone(), part.clone()).prop_map(|(a, b)| BoolTree::Iff(a, b)),
            (part.clone(), part.clone(), part).prop_map(|(a, b, c)| BoolTree::Ite(a, b, c)),
        ]
    })
}

fn decision() -> impl Strategy<Value = Decision> {
    let condition = (span(), name()).prop_map(|(span, text)| Condition { span, text });
    (one_of(), span(), name(), tree(), vec(condition, 0..4)).prop_map(|(kind, span, text, tree, conditions)| Decision {
        kind,
        span,
        text,
        tree,
        conditions: conditions.into_iter().collect(),
    })
}

fn expr() -> impl Strategy<Value = Expr> {
    let constant = (ty(), prop_oneof![0..5u64, any::<u64>()], any::<bool>(), name())
        .prop_map(|(ty, value, signed, text)| Expr { kind: ExprKind::Const(mask(value, ty.bits())), ty, signed, text });
    let place =
        prop_oneof![id().prop_map(ExprKind::Reg), id().prop_map(ExprKind::Slot), id().prop_map(ExprKind::Global)];
    let typed = |kind: BoxedStrategy<ExprKind>| {
        let text = prop_oneof![Just(String::new()), name()];
        (kind, ty(), any::<bool>(), text).prop_map(|(kind, ty, signed, text)| Expr { kind, ty, signed, text })
    };
    prop_oneof![constant, typed(place.boxed())].prop_recursive(4, 20, 3, move |part| {
        let part = part.prop_map(Box::new).boxed();
        let one = || part.clone();
        let two = || (part.clone(), part.clone());
        let kind = prop_oneof![
            one().prop_map(ExprKind::Load),
            one().prop_map(ExprKind::Not),
            (one_of(), one()).prop_map(|(op, a)| ExprKind::Cast(op, a)),
            (one_of(), two()).prop_map(|(op, (a, b))| ExprKind::Bin(op, a, b)),
            (one_of(), two()).prop_map(|(op, (a, b))| ExprKind::Cmp(op, a, b)),
            two().prop_map(|(a, b)| ExprKind::PtrAdd(a, b)),
            (one_of::<Format>(), one()).prop_map(|(format, a)| ExprKind::AsFloat(format, a)),
            (one_of::<FloatOp>(), one_of(), two(), one()).prop_map(|(op, format, (a, b), c)| {
                let args = [a, b, c].map(|part| *part);
                ExprKind::Float(op, format, args[..op.arity()].to_vec())
            }),
            two().prop_map(|(a, b)| ExprKind::And(a, b)),
            two().prop_map(|(a, b)| ExprKind::Or(a, b)),
            (one(), two()).prop_map(|(c, (a, b))| ExprKind::Ite(c, a, b)),
        ];
        typed(kind.boxed())
    })
}

fn point() -> impl Strategy<Value = Point> {
    let tag = (id(), id()).prop_map(|(decision, condition)| CondTag { decision, condition });
    let kind = prop_oneof![
        Just(PointKind::Statement),
        expr().prop_map(PointKind::Value),
        expr().prop_map(PointKind::Hazard),
        (tag, expr()).prop_map(|(tag, value)| PointKind::Condition { tag, value }),
        (name(), expr()).prop_map(|(name, predicate)| PointKind::Label { name, predicate }),
    ];
    let variables = proptest::option::of(proptest::collection::vec(expr(), 0..3));
    let made = |(kind, span, text, variables): (_, _, _, Option<Vec<Expr>>)| Point {
        kind,
        span,
        text,
        variables: variables.map(Into::into),
    };
    (kind, span(), name(), variables).prop_map(made)
}

/// Operands over `regs` registers; not always of the right type.
fn operand(regs: usize) -> BoxedStrategy<Operand> {
    let constant =
        (ty(), prop_oneof![0..5u64, any::<u64>()]).prop_map(|(ty, value)| Operand::Const(ty, mask(value, ty.bits())));
    prop_oneof![(0..regs + 2).prop_map(|reg| Operand::Reg(Reg::new(reg))), constant].boxed()
}

fn builtin() -> impl Strategy<Value = Builtin> {
    proptest::sample::select(Builtin::all())
}

fn inst_kind(regs: usize) -> BoxedStrategy<InstKind> {
    let op = || operand(regs);
    let args = || vec(operand(regs), 0..4);
    let dst = move || (0..regs).prop_map(Reg::new);
    let none = prop_oneof![
        (op(), op()).prop_map(|(addr, value)| InstKind::Store { addr, value }),
        (op(), op(), op()).prop_map(|(dst, src, size)| InstKind::MemCopy { dst, src, size }),
        (op(), op(), op()).prop_map(|(dst, value, size)| InstKind::MemSet { dst, value, size }),
        id().prop_map(|slot| InstKind::SlotBegin { slot }),
        id().prop_map(|slot| InstKind::SlotEnd { slot }),
        id().prop_map(|point| InstKind::Point { point }),
        (id(), args()).prop_map(|(callee, args)| InstKind::Call { dst: None, callee: Callee::Direct(callee), args }),
        (op(), args()).prop_map(|(callee, args)| InstKind::Call { dst: None, callee: Callee::Indirect(callee), args }),
        (builtin(), args()).prop_map(|(builtin, args)| InstKind::Builtin { dst: None, builtin, args }),
    ];
    if regs == 0 {
        return none.boxed();
    }
    prop_oneof![
        none,
        (dst(), op()).prop_map(|(dst, src)| InstKind::Copy { dst, src }),
        (dst(), one_of(), op(), op()).prop_map(|(dst, op, a, b)| InstKind::Bin { dst, op, a, b }),
        (dst(), one_of(), op(), op()).prop_map(|(dst, op, a, b)| InstKind::Cmp { dst, op, a, b }),
        (dst(), one_of(), op()).prop_map(|(dst, op, src)| InstKind::Cast { dst, op, src }),
        (dst(), one_of(), one_of(), vec(op(), 1..4)).prop_map(|(dst, op, format, args)| InstKind::Float {
            dst,
            op,
            format,
            args
        }),
        (dst(), id()).prop_map(|(dst, slot)| InstKind::SlotAddr { dst, slot }),
        (dst(), id()).prop_map(|(dst, global)| InstKind::GlobalAddr { dst, global }),
        (dst(), op(), op()).prop_map(|(dst, base, offset)| InstKind::PtrAdd { dst, base, offset }),
        (dst(), op(), op()).prop_map(|(dst, a, b)| InstKind::PtrDiff { dst, a, b }),
        (dst(), op()).prop_map(|(dst, addr)| InstKind::Load { dst, addr }),
        (dst(), id(), args()).prop_map(|(dst, callee, args)| InstKind::Call {
            dst: Some(dst),
            callee: Callee::Direct(callee),
            args
        }),
        (dst(), builtin(), args()).prop_map(|(dst, builtin, args)| InstKind::Builtin { dst: Some(dst), builtin, args }),
    ]
    .boxed()
}

fn terminator(regs: usize) -> BoxedStrategy<TermKind> {
    let op = || operand(regs);
    let tag = proptest::option::of((id(), id()).prop_map(|(decision, condition)| CondTag { decision, condition }));
    let arm = (any::<u64>(), any::<u64>(), any::<bool>(), any::<bool>(), id()).prop_map(
        |(low, high, single, signed, target)| SwitchArm { low, high: if single { low } else { high }, signed, target },
    );
    let arm_name = (id(), name()).prop_map(|(target, name)| ArmName { target, name });
    prop_oneof![
        id().prop_map(TermKind::Jump),
        (op(), id(), id(), one_of(), tag).prop_map(|(cond, then_block, else_block, role, tag)| TermKind::Branch {
            cond,
            then_block,
            else_block,
            role,
            tag
        }),
        (op(), vec(arm, 0..4), id(), one_of(), vec(arm_name, 0..3))
            .prop_map(|(value, arms, default, role, names)| { TermKind::Switch { value, arms, default, role, names } }),
        proptest::option::of(op()).prop_map(TermKind::Return),
        op().prop_map(TermKind::Throw),
        (0..regs.max(1), id(), id()).prop_map(|(thrown, handler, next)| TermKind::Catch {
            thrown: Reg::new(thrown),
            handler,
            next
        }),
        name().prop_map(TermKind::Unsupported),
        Just(TermKind::Unreachable),
    ]
    .boxed()
}

fn block(regs: usize) -> impl Strategy<Value = Block> {
    let inst = (inst_kind(regs), span()).prop_map(|(kind, span)| Inst { kind, span });
    (vec(inst, 0..6), terminator(regs), span())
        .prop_map(|(insts, kind, span)| Block { insts, terminator: Terminator { kind, span } })
}

fn function() -> impl Strategy<Value = Function> {
    let reg = (ty(), proptest::option::of(name())).prop_map(|(ty, name)| RegInfo { ty, name });
    let slot = (proptest::option::of(name()), id(), size()).prop_map(|(name, data, size)| Slot { name, data, size });
    let open = proptest::collection::btree_set(name(), 0..3);
    let head = (name(), span(), any::<[bool; 3]>(), proptest::option::of(ty()), id(), one_of(), open);
    let parts = (head, vec(reg, 0..6), vec(slot, 0..3), vec(decision(), 0..3), vec(point(), 0..4));
    parts.prop_flat_map(|(head, regs, slots, decisions, points)| {
        let count = regs.len();
        let params = vec((name(), id(), any::<bool>()), 0..=count);
        (Just((head, regs, slots, decisions, points)), params, vec(block(count), 0..4)).prop_map(
            |((head, regs, slots, decisions, points), params, blocks)| {
                let (name, span, [internal, variadic, aggregate_result], result, result_data, role, left_open) = head;
                let params = params.into_iter().enumerate().map(|(index, (name, data, aggregate))| Param {
                    name,
                    reg: Reg::new(index),
                    data,
                    aggregate,
                });
                Function {
                    name,
                    span,
                    internal,
                    role,
                    params: params.collect(),
                    result,
                    result_data,
                    aggregate_result,
                    variadic,
                    left_open,
                    regs: regs.into_iter().collect(),
                    slots: slots.into_iter().collect(),
                    decisions: decisions.into_iter().collect(),
                    points: points.into_iter().collect(),
                    blocks: blocks.into_iter().collect(),
                }
            },
        )
    })
}

fn module() -> impl Strategy<Value = Module> {
    let thrown = proptest::option::of(id());
    let row = (id(), id(), one_of(), id(), id(), one_of());
    let thrown = (thrown, proptest::option::of(name()), vec(row, 0..4), one_of());
    (vec(name(), 0..3), vec(data_type(), 0..6), thrown, vec(global(), 0..5), (vec(function(), 0..4), vec(id(), 0..3)))
        .prop_map(|(files, types, (thrown, entry, rows, byte_writes), globals, (functions, startup))| {
            let types = types.into_iter().collect();
            let mut memory = MemoryRules::new(byte_writes);
            for (id, element, stands, same, part, shares) in rows {
                memory.set(id, Pointee { element, stands, same, part, shares }, &types);
            }
            Module {
                startup,
                files: files.into_iter().collect(),
                types,
                entry,
                memory,
                thrown,
                globals: globals.into_iter().collect(),
                functions: functions.into_iter().collect::<IndexMap<FuncId, Function>>(),
                facts: ModuleFacts::default(),
            }
        })
}

proptest! {
    #[test]
    fn parsing_the_printed_text_gives_the_same_module(module in module()) {
        let text = print(&module);
        match parse(&text) {
            Ok(parsed) => prop_assert_eq!(parsed, module, "{}", text),
            Err(error) => prop_assert!(false, "{} in\n{}", error, text),
        }
    }

    #[test]
    fn the_verifier_takes_any_module(module in module()) {
        verify(&module);
    }
}

// Hand-written texts.

fn check_error(text: &str, expected: &str) {
    match parse(text) {
        Ok(_) => panic!("no error in {text}"),
        Err(error) => assert_eq!(error.to_string(), expected, "{text}"),
    }
}

#[test]
fn an_error_says_where_and_what_was_expected() {
    check_error(
        "x",
        "1:1: expected `file`, `type`, `entry`, `memory`, `thrown`, `start`, `global` or `func`, found `x`",
    );
    check_error("file f1 \"a\"", "1:6: expected `f0`, found `f1`: ids are in order");
    check_error("file f0 a", "1:9: expected the path of the file in quotes, found `a`");
    check_error("file f0 \"a", "1:11: expected `\"` at the end of a quoted text");
    check_error("file f0 \"\\q\"", "1:11: expected one of `n t r 0 \\ \" x` after a backslash");
    check_error("file f0 \"\\xg0\"", "1:11: expected two hexadecimal digits after `\\x`");
    check_error("file f0 \"\\xff\"", "1:9: expected UTF-8 in this text");
    check_error("§", "1:1: unexpected character");
    check_error(
        "type ty0 = real",
        "1:12: expected a kind of type (void, int, float, bool, enum, bits, pointer, array, struct, union, one_of, opaque), found `real`",
    );
    check_error(
        "type ty0 = int \"int\" 99999999999999999999 signed",
        "1:22: expected a number of at most 64 bits, found `99999999999999999999`",
    );
    check_error("global @x: size 4 = { 0: @y }", "1:26: expected a global, but none is named `y`");
    check_error(
        "global @x: size 4\nglobal @x: size 4\nglobal @y: size 8 = { 0: @x }",
        "3:26: several globals are named `x`: use the id",
    );
    check_error("func @f(%0: i7)", "1:13: expected a type (i1, i8, i16, i32, i64 or ptr), found `i7`");
    check_error("func @f(%1: i8)", "1:1: expected a type for every register, but `%0` is never declared");
    check_error(
        "func @f() {",
        "1:12: expected `reg`, `slot`, `decision`, `point`, a block (`b0:`) or `}`, found the end of the text",
    );
    check_error("func @f() {\nb1:", "2:1: expected `b0`, found `b1`: ids are in order");
    check_error(
        "func @f() {\nb0:\n}",
        "3:1: expected an instruction or the end of the block (jump, branch, switch, return, …), found `}`",
    );
    check_error("func @f() { b0: %0 = copy 1 return }", "1:17: expected a type for `%0` (write `%0: i32 = …` once)");
    check_error(
        "func @f() { b0: %0: i8 = copy 1 %0: i16 = copy 1 return }",
        "1:37: expected `i8`: `%0` is declared so elsewhere, found `i16`",
    );
    check_error("func @f() { b0: store null, 1 return }", "1:29: expected a type before this constant (`i32 7`)");
    check_error("func @f() { b0: call @g() return }", "1:22: expected a function, but none is named `g`");
    check_error("func @f() { b0: jump f0 }", "1:22: expected a block (`b0`), found `f0`");
    check_error("func @f() @f0:1 { }", "1:16: expected `:` in a source position");
    check_error("func @f() { reg %99999999999: i32 }", "1:18: expected a number of at most 32 bits");
}

#[test]
fn an_error_in_a_point_says_where_and_what_was_expected() {
    let check = |point: &str, expected: &str| check_error(&format!("func @f() {{\npoint {point}\n}}"), expected);
    check("p1 statement \"x\"", "2:7: expected `p0`, found `p1`: ids are in order");
    check(
        "p0 call \"x\"",
        "2:10: expected a kind of point (statement, deep, value, decision, hazard, store, condition, label), found `call`",
    );
    check("p0 statement", "3:1: expected the text of the point in quotes, found `}`");
    check("p0 value %0 \"x\"", "2:16: expected an expression in parentheses, found `%0`");
    check(
        "p0 value (plus i32 (i32 1)) \"x\"",
        "2:17: expected an operation or the type of a leaf (`(i32 %0)`, `(i32 7)`, `(ptr s0)`, `(ptr @g)`), found `plus`",
    );
    check("p0 value (i32 \"x\") \"x\"", "2:21: expected a register, a number, a slot or a global, found a quoted text");
    check("p0 value (ptr @h) \"x\"", "2:21: expected a global, but none is named `h`");
    check("p0 value (ptr signed unsigned s0) \"x\"", "2:28: expected a global (`@name` or `g0`), found `unsigned`");
    check("p0 value (add i32 (i32 1)) \"x\"", "2:32: expected an expression in parentheses, found `)`");
    check("p0 value (not i1 (i1 1) (i1 1)) \"x\"", "2:31: expected `)`, found `(`");
    check("p0 condition d0 (i1 1) \"x\"", "2:23: expected `.`, found `(`");
    check("p0 label (i1 1) \"x\"", "2:16: expected the name of the label in quotes, found `(`");
}

#[test]
fn what_is_usual_in_an_expression_is_left_out() {
    let check = |value: &str| {
        let text = format!("func @f() -> void ty0 {{\n  point p0 value {value} \"x\"\n}}\n");
        let module = parse(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
        assert_eq!(print(&module), text);
    };
    check("(i32 -7)");
    check("(i32 unsigned -7 \"4294967289\")");
    check("(add i32 (i32 %0 \"x\") (i32 7 \"7\") \"x + 7\")");
    check("(and_then i1 (not i1 (i1 1)) (slt i1 signed (i8 %0) (i8 unsigned %1)) \"a && b\")");
    check("(load i32 (ptr_add ptr (ptr s0 \"a\") (sext i64 (i32 %0 \"i\"))) \"a[i]\")");
    check("(ptr signed g7)");
}

#[test]
fn a_hand_written_text_needs_little() {
    let module = parse("func @f(%0: i8) -> i8 { b0: %0 = add %0, -1 return %0 }").expect("well-formed");
    assert_eq!(module.types.values().collect::<Vec<_>>(), [&DataType::Void]);
    assert_eq!(verify(&module), []);
    let function = &module.functions[FuncId::new(0)];
    let dst = Reg::new(0);
    let expected = InstKind::Bin { dst, op: BinOp::Add, a: Operand::Reg(dst), b: Operand::Const(Ty::I8, 255) };
    assert_eq!(function.blocks[BlockId::new(0)].insts[0].kind, expected);
}

#[test]
fn a_deeply_nested_decision_is_refused_and_not_followed() {
    let text = |depth: usize| {
        let (open, close) = ("not(".repeat(depth), ")".repeat(depth));
        format!("func @f() {{ decision d0 if \"x\" = {open}c0{close} {{ c0 \"x\" }} }}")
    };
    assert!(parse(&text(500)).is_ok());
    assert!(parse(&text(100_000)).is_err_and(|error| error.message.contains("nested less deeply")));
}

#[test]
fn a_deeply_nested_expression_is_refused_and_not_followed() {
    let text = |depth: usize| {
        let (open, close) = ("(not i1 ".repeat(depth - 1), ")".repeat(depth - 1));
        format!("func @f() {{ point p0 value {open}(i1 1){close} \"x\" }}")
    };
    let module = parse(&text(Expr::MAX_DEPTH)).expect("just deep enough");
    assert_eq!(verify(&module), []);
    assert_eq!(parse(&print(&module)).as_ref(), Ok(&module));
    let refused = |depth| parse(&text(depth)).is_err_and(|error| error.message.contains("nested less deeply"));
    assert!(refused(Expr::MAX_DEPTH + 1));
    assert!(refused(100_000));
}

// Damaged texts: deterministic mutations of a text that has everything.

const SEED_TEXT: &str = r#"; everything
file f0 "a.c"
type ty0 = int "int" 32 signed
type ty1 = enum "color" 32 unsigned { "RED" = 0, "BLUE" = -5 }
type ty2 = struct "s" size 8 align 4 { "x": ty0 at 0, "y": ty0 at 4 }
type ty3 = pointer const ty2
type ty4 = array ty0 length 10
type ty5 = opaque "float" size 4 align 4
global @g: ty4 size 40 internal constant @f0:1:1-1:9 = { 0: "ab\x00\n", 8: @g - 4, 16: i32 -1 }
func @"odd name"(%0: i32 ty0) -> void ty0
func @f(%0 "a": i32 ty0, %1 "s": ptr ty3 aggregate) -> i32 ty0 internal model @f0:3:1-9:2 {
  reg %9 "named": i64
  slot s0 "copy": ty0 size 4
  decision d0 if "a && b" @f0:3:5 = and(c0, ite(not(c1), true, xor(c2, iff(c3, or(c4, false))))) { c0 "a" c1 "b" @f0:3:5 c2 "c" c3 "d" c4 "e" }
  point p0 statement "x = a;" @f0:3:5-3:11
  point p1 value (ite i32 (eq i1 (ptr %1 "s") (ptr @g)) (i32 unsigned -1 "m") (sub i32 (i32 %0 "a") (i32 1)) "c") "c"
  point p2 condition d0.c0 (or_else i1 (not i1 (i1 0)) (ne i1 (load i8 (ptr_add ptr (ptr s0) (i64 2))) (i8 0)) "a") "a" @f0:3:5
  point p3 label "L1" (i1 signed 1 "1") "label(1)"
  point p4 decision (and_then i1 (i1 1) (i1 0) "a && b") "a && b" @f0:3:5
  point p5 store (ptr_add ptr (ptr s0) (i64 2)) (i8 7 "7") "*s" @f0:3:5
b0:
  point p0
  %2: i1 = cmp slt %0, -3 @f0:3:5-3:6
  %3: ptr = slot_addr s0
  slot_begin s0
  store %3, i32 0x7f
  %4: i64 = ptr_diff %3, %1
  %5: ptr = ptr_add %3, %4
  %6: ptr = global_addr @g
  mem_copy %6, %5, 8
  mem_set %6, -1, 8
  %7: i32 = call @f(%0, null)
  call @"odd name"(i32 1)
  %8: i32 = builtin printf(%6, %7)
  %9 = sext %8
  branch %2, b1, b2 [d0.c0]
b1:
  switch %0 { 1 => b1, -5..7 => b2, unsigned 9..10 => b2, else => b3 }
b2:
  return %7
b3:
  unsupported "floats" @f0:9:1
b4:
  unreachable
}
"#;

/// `xorshift64*`: the same texts in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound.max(1)
    }
}

#[test]
fn no_damaged_text_makes_the_parser_panic() {
    let module = parse(SEED_TEXT).expect("well-formed");
    assert_eq!(parse(&print(&module)).as_ref(), Ok(&module));
    let words: Vec<&str> = SEED_TEXT.split_inclusive([' ', '\n', '(', ',']).collect();
    let odd = [
        "%4294967295",
        "%4294967294: i8",
        "b4294967294",
        "@f0:1:1",
        "@f99999999999:1:1",
        "-",
        "\"",
        "{",
        "}",
        "(",
        "\\",
        "é",
        "-9223372036854775808",
        "18446744073709551615",
        "0x",
        "@",
        "%",
        "..",
        "null",
        "i64",
        "\0",
    ];
    let mut random = Random(0x5eed);
    let mut accepted = 0;
    for _ in 0..20_000 {
        let mut mutant: Vec<&str> = words.clone();
        for _ in 0..=random.below(3) {
            let (at, other) = (random.below(mutant.len()), random.below(mutant.len()));
            match random.below(5) {
                0 if mutant.len() > 1 => drop(mutant.remove(at)),
                1 => mutant.insert(at, words[other % words.len()]),
                2 => mutant.swap(at, other),
                3 => mutant.truncate(at.max(1)),
                _ => mutant.insert(at, odd[random.below(odd.len())]),
            }
        }
        let mut text = mutant.concat();
        if random.below(4) == 0 {
            let at = text.floor_char_boundary(random.below(text.len()));
            text.remove(at);
        }
        if let Ok(module) = parse(&text) {
            accepted += 1;
            verify(&module);
            assert_eq!(parse(&print(&module)).as_ref(), Ok(&module), "{text}");
        }
    }
    assert!(accepted > 100, "only {accepted} damaged texts were still modules: the test tests little");
}
