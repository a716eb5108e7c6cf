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
 * The compiler's code generator, which also says where it put the jump of each condition and the first instruction of each
 * statement. It is in the compiler's package because what it overrides is not public.
 */
public class TouchstoneGen extends Gen {
    private static PrintWriter out;
    private static Field codeField;
    private static Field fixedField;

    /** The loops with a condition of their own that sources have: files and positions. */
    static final Set<String> LOOPS = new HashSet<>();

    private final Types types;
    private Symbol.MethodSymbol method;
    private String file;
    /** Statements that are a jump and nothing else, of the method: start, end and position. */
    private List<int[]> gotos = new ArrayList<>();
    /** The last of them, if it may be taken away. */
    private int[] doubtful;
    /** Tests of patterns, and where the patterns are. */
    private final Map<JCTree, Integer> patterns = new IdentityHashMap<>();
    /** Conditions of loops that the compiler made. */
    private final Set<JCTree> made = Collections.newSetFromMap(new IdentityHashMap<>());

    /** Puts itself in the place of the code generator. */
    public static void install(Context context, PrintWriter records) throws Exception {
        out = records;
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
        lookAtJumps();
        gotos.remove(doubtful);
        gotos.forEach(jump -> record("T", jump[0], jump[2], 0));
        method = before;
        gotos = outer;
    }

    /**
     * Where the next instruction comes, unless it is a jump: the compiler takes away a jump that leads just there. Nothing is resolved for
     * that: jumps that wait for their place join the next one, and the code must be what the compiler makes alone.
     */
    private static int next(Code code) {
        return leadsHere(code) ? code.cp - 3 : code.cp;
    }

    /** Whether the code ends with a jump that waits for its place and would lead just here. */
    private static boolean leadsHere(Code code) {
        Code.Chain waiting = code.pendingJumps;
        return waiting != null && waiting.pc + 3 == code.cp && code.code[waiting.pc] == (byte) ByteCodes.goto_ && !isFixed(code);
    }

    /** Whether something else leads to where the code ends. */
    private static boolean isFixed(Code code) {
        try {
            return fixedField.getBoolean(code);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * A jump that leads just behind itself is taken away with the next instruction, unless that is a jump which it joins. Nobody says which of
     * both happened, and something else may stand in its place: what is not known to be kept is forgotten.
     */
    private void lookAtJumps() {
        Code code = code();
        if (code == null || gotos.isEmpty()) {
            return;
        }
        int[] last = gotos.get(gotos.size() - 1);
        boolean isLast = last[1] == code.cp && code.code[last[0]] == (byte) ByteCodes.goto_;
        boolean isWaiting = isLast && leadsHere(code);
        if (doubtful == last && !isLast || code.cp < last[1]) {
            gotos.remove(last);
        }
        doubtful = isWaiting ? last : null;
    }

    /**
     * A pattern is translated before code is generated: x instanceof T t is a test, and then a block that keeps the value and is
     * true. The test stands at any position; the truth where the pattern does.
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
        lookAtJumps();
        notePattern(tree);
        Items.CondItem item = super.genCond(tree, markBranches);
        if (isLeaf(tree)) {
            jump(tree, item);
        }
        return item;
    }

    @Override
    public Items.Item genExpr(JCTree tree, Type expected) {
        lookAtJumps();
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
        lookAtJumps();
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
        lookAtJumps();
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
        // Of an enhanced one the compiler makes a plain one, which stands where something else does.
        if (tree.cond != null && !LOOPS.contains(loop(file, tree.pos))) {
            made.add(skipParens(tree.cond));
        }
        super.visitForLoop(tree);
    }

    static String loop(String file, int position) {
        return file + ":" + position;
    }

    /** Why a jump is no condition, if no source has it. */
    private String reason(JCTree condition) {
        if (made.contains(condition)) {
            return "enhanced for";
        }
        return method != null && method.name.contentEquals("$deserializeLambda$") ? "deserialised lambda" : null;
    }

    /** The jump that comes next is this condition's; it is taken if the condition has the value of the opcode. */
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
