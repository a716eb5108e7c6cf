package com.sun.tools.javac.jvm;

import com.sun.tools.javac.code.Symbol;
import com.sun.tools.javac.code.Type;
import com.sun.tools.javac.code.Types;
import com.sun.tools.javac.comp.AttrContext;
import com.sun.tools.javac.comp.Env;
import com.sun.tools.javac.tree.JCTree;
import com.sun.tools.javac.util.Context;
import java.io.PrintWriter;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The compiler's code generator, extended to record the jump of each condition and the first instruction of each statement.
 * It is in the compiler's package because the overridden members are not public.
 */
public class TouchstoneGen extends Gen {
    private static PrintWriter out;
    private static Field codeField;
    private static Field fixedField;

    /** The loops of the sources that have a condition: files and positions. */
    static final Set<String> LOOPS = new HashSet<>();

    private final Types types;
    private Symbol.MethodSymbol method;
    private String file;
    /** The statements of the method that consist of one jump: start, end and position. */
    private List<int[]> gotos = new ArrayList<>();
    /** The last of them, if the compiler may remove it. */
    private int[] doubtful;
    /** The tests of patterns, with the positions of the patterns. */
    private final Map<JCTree, Integer> patterns = new IdentityHashMap<>();
    /** The conditions of loops that the compiler added. */
    private final Set<JCTree> made = Collections.newSetFromMap(new IdentityHashMap<>());

    /** Replaces the compiler's code generator. */
    public static void install(Context context, PrintWriter records) throws Exception {
        out = records;
        LOOPS.clear();
        codeField = Gen.class.getDeclaredField("code");
        codeField.setAccessible(true);
        fixedField = Code.class.getDeclaredField("fixedPc");
        fixedField.setAccessible(true);
        context.put(genKey, (Context.Factory<Gen>) TouchstoneGen::new);
    }

    private TouchstoneGen(Context context) {
        super(context);
        types = Types.instance(context);
    }

    private Code code() {
        try {
            return (Code) codeField.get(this);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public boolean genClass(Env<AttrContext> env, JCTree.JCClassDecl tree) {
        file = env.toplevel.sourcefile.getName();
        return super.genClass(env, tree);
    }

    @Override
    public void visitMethodDef(JCTree.JCMethodDecl tree) {
        Symbol.MethodSymbol before = method;
        List<int[]> outer = gotos;
        method = tree.sym;
        gotos = new ArrayList<>();
        doubtful = null;
        super.visitMethodDef(tree);
        forgetRemovedJumps();
        gotos.remove(doubtful);
        gotos.forEach(jump -> record("T", jump[0], jump[2], 0));
        method = before;
        gotos = outer;
    }

    /**
     * Returns the offset of the next instruction, unless that is a jump: the compiler removes a jump to the next instruction. Pending
     * jumps are not resolved for this, since that would change the generated code.
     */
    private static int next(Code code) {
        return targetsHere(code) ? code.cp - 3 : code.cp;
    }

    /** Returns true if the code ends with a pending jump whose target would be the next instruction. */
    private static boolean targetsHere(Code code) {
        Code.Chain waiting = code.pendingJumps;
        return waiting != null && waiting.pc + 3 == code.cp && code.code[waiting.pc] == (byte) ByteCodes.goto_ && !isFixed(code);
    }

    /** Returns true if another jump already targets the end of the code. */
    private static boolean isFixed(Code code) {
        try {
            return fixedField.getBoolean(code);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Forgets jumps that the compiler may have removed. A jump to its own successor is removed with the next instruction, unless that is
     * a jump with which it is merged; which of both happened is not observable, and another instruction may have its offset.
     */
    private void forgetRemovedJumps() {
        Code code = code();
        if (code == null || gotos.isEmpty()) {
            return;
        }
        int[] last = gotos.get(gotos.size() - 1);
        boolean isLast = last[1] == code.cp && code.code[last[0]] == (byte) ByteCodes.goto_;
        boolean isWaiting = isLast && targetsHere(code);
        if (doubtful == last && !isLast || code.cp < last[1]) {
            gotos.remove(last);
        }
        doubtful = isWaiting ? last : null;
    }

    /**
     * Records the position of a pattern. Patterns are desugared before code is generated: x instanceof T t becomes a test, and then a
     * block that stores the value and is true. The test has any position; the constant has that of the pattern.
     */
    private void notePattern(JCTree given) {
        JCTree tree = skipParens(given);
        if (tree instanceof JCTree.JCBinary && tree.hasTag(JCTree.Tag.AND)) {
            JCTree.JCBinary both = (JCTree.JCBinary) tree;
            JCTree kept = skipParens(both.rhs);
            if (kept instanceof JCTree.LetExpr && skipParens(((JCTree.LetExpr) kept).expr) instanceof JCTree.JCLiteral) {
                patterns.put(skipParens(both.lhs), skipParens(((JCTree.LetExpr) kept).expr).pos);
            }
        }
    }

    @Override
    public Items.CondItem genCond(JCTree tree, boolean markBranches) {
        forgetRemovedJumps();
        notePattern(tree);
        Items.CondItem item = super.genCond(tree, markBranches);
        if (isLeaf(tree)) {
            jump(tree, item);
        }
        return item;
    }

    @Override
    public Items.Item genExpr(JCTree tree, Type expected) {
        forgetRemovedJumps();
        notePattern(tree);
        Items.Item item = super.genExpr(tree, expected);
        if (item instanceof Items.CondItem && isLeaf(tree)) {
            jump(tree, (Items.CondItem) item);
        }
        return item;
    }

    @Override
    public void genStat(JCTree tree, Env<GenContext> env) {
        Code code = code();
        forgetRemovedJumps();
        boolean alive = code != null && code.isAlive();
        boolean isJump = tree instanceof JCTree.JCBreak || tree instanceof JCTree.JCContinue;
        int start = !alive ? 0 : isJump ? code.cp : next(code);
        super.genStat(tree, env);
        if (alive && code.cp > start) {
            if (isJump && code.cp == start + 3) {
                gotos.add(new int[] {start, code.cp, tree.pos});
            } else {
                record("T", start, tree.pos, 0);
            }
        }
        forgetRemovedJumps();
    }

    @Override
    public void visitSwitch(JCTree.JCSwitch tree) {
        Code code = code();
        int start = code == null ? 0 : next(code);
        super.visitSwitch(tree);
        record("W", start, tree.pos, 0);
    }

    @Override
    public void visitSwitchExpression(JCTree.JCSwitchExpression tree) {
        Code code = code();
        int start = code == null ? 0 : next(code);
        super.visitSwitchExpression(tree);
        record("W", start, tree.pos, 0);
    }

    @Override
    public void visitForLoop(JCTree.JCForLoop tree) {
        // An enhanced loop is desugared to a plain one with the position of another tree.
        if (tree.cond != null && !LOOPS.contains(loop(file, tree.pos))) {
            made.add(skipParens(tree.cond));
        }
        super.visitForLoop(tree);
    }

    static String loop(String file, int position) {
        return file + ":" + position;
    }

    /** Returns the reason for which a jump is not a condition, if the source does not contain it. */
    private String reason(JCTree condition) {
        if (made.contains(condition)) {
            return "enhanced for";
        }
        return method != null && method.name.contentEquals("$deserializeLambda$") ? "deserialised lambda" : null;
    }

    /** Records that the next jump evaluates this condition; the opcode jumps if the condition holds. */
    private void jump(JCTree tree, Items.CondItem item) {
        Code code = code();
        JCTree condition = skipParens(tree);
        if (code != null && code.isAlive() && !(condition instanceof JCTree.JCLiteral)) {
            String reason = reason(condition);
            if (reason == null) {
                record("J", next(code), patterns.getOrDefault(condition, condition.pos), item.opcode);
            } else {
                record("R", next(code), reason, 0);
            }
        }
    }

    private void record(String kind, int at, Object position, int opcode) {
        if (method != null) {
            out.println(kind + "\t" + file + "\t" + method.owner.flatName() + "\t" + method.name + "\t" + descriptor(method)
                + "\t" + at + "\t" + position + "\t" + opcode);
        }
    }

    static JCTree skipParens(JCTree tree) {
        while (tree instanceof JCTree.JCParens) {
            tree = ((JCTree.JCParens) tree).expr;
        }
        return tree;
    }

    private static boolean isLeaf(JCTree tree) {
        switch (skipParens(tree).getTag()) {
            case AND:
            case OR:
            case NOT:
            case CONDEXPR:
            case LETEXPR:
                return false;
            default:
                return true;
        }
    }

    private String descriptor(Symbol.MethodSymbol symbol) {
        Type type = symbol.externalType(types);
        StringBuilder text = new StringBuilder("(");
        for (Type parameter : type.getParameterTypes()) {
            text.append(descriptor(parameter));
        }
        return text.append(')').append(descriptor(type.getReturnType())).toString();
    }

    private String descriptor(Type given) {
        Type type = types.erasure(given);
        switch (type.getTag()) {
            case BYTE: return "B";
            case CHAR: return "C";
            case SHORT: return "S";
            case INT: return "I";
            case LONG: return "J";
            case FLOAT: return "F";
            case DOUBLE: return "D";
            case BOOLEAN: return "Z";
            case VOID: return "V";
            case ARRAY: return "[" + descriptor(((Type.ArrayType) type).elemtype);
            default: return "L" + ((Symbol.ClassSymbol) type.tsym).flatname.toString().replace('.', '/') + ";";
        }
    }
}
