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

/**
 * The compiler's code generator, which also says where it put the jump of each condition and the first instruction of each
 * statement. It is in the compiler's package because what it overrides is not public.
 */
public class TouchstoneGen extends Gen {
    private static PrintWriter out;
    private static Field codeField;

    private final Types types;
    private Symbol.MethodSymbol method;
    private String file;

    /** Puts itself in the place of the code generator. */
    public static void install(Context context, PrintWriter records) throws Exception {
        out = records;
        codeField = Gen.class.getDeclaredField("code");
        codeField.setAccessible(true);
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
        method = tree.sym;
        super.visitMethodDef(tree);
        method = before;
    }

    @Override
    public Items.CondItem genCond(JCTree tree, boolean markBranches) {
        Items.CondItem item = super.genCond(tree, markBranches);
        if (isLeaf(tree)) {
            jump(tree, item);
        }
        return item;
    }

    @Override
    public Items.Item genExpr(JCTree tree, Type expected) {
        Items.Item item = super.genExpr(tree, expected);
        if (item instanceof Items.CondItem && isLeaf(tree)) {
            jump(tree, (Items.CondItem) item);
        }
        return item;
    }

    @Override
    public void genStat(JCTree tree, Env<GenContext> env) {
        Code code = code();
        int start = code == null ? 0 : code.cp;
        boolean alive = code != null && code.isAlive();
        super.genStat(tree, env);
        if (alive && code.cp > start) {
            record("T", start, tree.pos, 0);
        }
    }

    @Override
    public void visitSwitch(JCTree.JCSwitch tree) {
        Code code = code();
        int start = code == null ? 0 : code.cp;
        super.visitSwitch(tree);
        record("W", start, tree.pos, 0);
    }

    @Override
    public void visitSwitchExpression(JCTree.JCSwitchExpression tree) {
        Code code = code();
        int start = code == null ? 0 : code.cp;
        super.visitSwitchExpression(tree);
        record("W", start, tree.pos, 0);
    }

    /** The jump that comes next is this condition's; it is taken if the condition has the value of the opcode. */
    private void jump(JCTree tree, Items.CondItem item) {
        Code code = code();
        if (code != null && code.isAlive()) {
            record("J", code.cp, skipParens(tree).pos, item.opcode);
        }
    }

    private void record(String kind, int at, int position, int opcode) {
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
