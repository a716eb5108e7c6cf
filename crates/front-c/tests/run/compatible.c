#include <stdio.h>
enum e1 {A,B}; enum e2 {C,D}; typedef int I; struct s{int a;}; struct t{int a;};
typedef enum {X1,X2} anon; 
#define T(a,b) printf("%s|%s=%d\n",#a,#b,__builtin_types_compatible_p(a,b))
#define P(a,b) printf("%s|%s=%d\n",#a,#b,__builtin_types_compatible_p(a,b))
int i; double d; char *cp; int arr[5];
int main(){
T(int[],int[5]); T(int[5],int[6]); T(int[5],int[]); T(int,const int); T(int*,const int*); T(const int[3],int[3]);
T(int *const,int*); T(enum e1,enum e2); T(enum e1,unsigned); T(enum e1,int); T(__typeof__(A),enum e1); T(__typeof__(A),int); T(__typeof__(A),__typeof__(C)); T(I,int); T(long,int); T(long,long long); T(char,signed char); T(char, unsigned char);
T(struct s,struct t); T(struct s,struct s); T(int(),int(void)); T(int(int),int()); T(int(char),int()); T(int(int),int(const int)); T(void*,char*);
T(__typeof__(i),int); T(__typeof__(arr),int[]); T(__typeof__(&arr[0]),__typeof__(arr)); T(anon,anon); T(anon,enum e1); T(int(*)[],int(*)[3]); T(char*[],char*[4]); T(short,int); T(volatile int, int); T(const char*,char*); T(float,double);
T(int (*)(int,...),int(*)(int)); T(int[2][3],int[][3]); T(int[2][3],int[2][4]); T(unsigned,unsigned int); T(long double,double); T(_Bool,int); T(__int128,unsigned __int128); T(volatile int*,int*); T(volatile int*,volatile int*); T(int(*)(void),int(*)(int)); T(__typeof__(&arr),int(*)[]); T(enum e1*,unsigned*); T(const int(*)[3],int(*)[3]); T(int* restrict,int*);
__auto_type q=__builtin_types_compatible_p(int,int); return q; }
